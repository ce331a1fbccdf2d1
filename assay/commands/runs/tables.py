"""Output of commands: the console, and cells of tables."""

import os
import sys

from rich.console import Console
from rich.text import Text

from core.process.terminal import printable, takes_colours


def make_console(width: int | None = None, *, soft_wrap: bool = True) -> Console:
    """A console on standard output, which writes escape sequences only where they are wanted.

    None as width: the terminal's. With `soft_wrap` long lines are left to the terminal.
    """
    return Console(
        soft_wrap=soft_wrap,
        highlight=False,
        width=width,
        color_system="auto" if takes_colours(sys.stdout, os.environ) else None,
    )


OUT = make_console()


def cell_text(value: object) -> Text:
    """A value in a table: as text, never as markup or as a command to the terminal."""
    return Text("" if value is None else printable(str(value)))
