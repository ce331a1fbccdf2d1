"""Output of commands: the console, and cells of tables."""

import os
import sys

from rich.console import Console
from rich.text import Text

from core.process.terminal import printable, takes_colours


def make_console(width: int | None = None, *, soft_wrap: bool = True) -> Console:
    """Build a console on standard output, with escape sequences only on a terminal that takes them.

    `width` None: the terminal's. With `soft_wrap` the terminal wraps long lines.
    """
    return Console(
        soft_wrap=soft_wrap,
        highlight=False,
        width=width,
        color_system="auto" if takes_colours(sys.stdout, os.environ) else None,
    )


OUT = make_console()


def cell_text(value: object) -> Text:
    """Render a table cell as text, never as markup or terminal commands."""
    return Text("" if value is None else printable(str(value)))
