"""assay static: static analysis of runtime codes, as JSON lines or printed for people."""

from typing import IO

import click

from assay.commands.loading import loading

PRINTERS = ("cfg", "dot", "findings", "guards", "storage")
"""Those of `analysis.static.printers`, which help and completion show without importing it."""


@click.command("static")
@click.argument("file", type=click.File("rb"), default="-")
@click.option(
    "--print",
    "printer",
    type=click.Choice(PRINTERS),
    help="Print this of one code, given as hex or as a JSON line, instead.",
)
def static_command(file: IO[bytes], printer: str | None) -> None:
    """Static analysis of runtime codes: JSON lines in, JSON lines out. Needs no node, no store.
    Each answer is written as soon as it is made.

    Example: echo '{"id": 1, "runtime": "0x6001..."}' | assay static
    """
    with loading():
        from assay.commands.run_static import run_printer, run_static  # noqa: PLC0415 - not for help and completion

    if printer is None:
        run_static(file)
    else:
        run_printer(file, printer)
