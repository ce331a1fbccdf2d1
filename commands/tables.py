"""Output of commands: the console, and cells of tables."""

from rich.console import Console
from rich.text import Text

from core.terminal import printable

OUT = Console(soft_wrap=True, highlight=False)


def cell_text(value: object) -> Text:
    """A value in a table: as text, never as markup or as a command to the terminal."""
    return Text("" if value is None else printable(str(value)))
