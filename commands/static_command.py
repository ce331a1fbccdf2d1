"""assay static: static analysis of runtime codes, as JSON lines."""

import sys
from typing import IO

import click

from analysis.static.analyse_stream import analyse_lines, lines_of


@click.command("static")
@click.argument("file", type=click.File("rb"), default="-")
def static_command(file: IO[bytes]) -> None:
    """Static analysis of runtime codes: JSON lines in, JSON lines out. Needs no node, no store.
    Each answer is written as soon as it is made.

    Example: echo '{"id": 1, "runtime": "0x6001..."}' | assay static
    """
    for line in analyse_lines(lines_of(file)):
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()
