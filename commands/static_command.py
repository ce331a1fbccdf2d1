"""assay static: static analysis of runtime codes, as JSON lines or printed for people."""

import sys
from typing import IO

import click
import msgspec

from analysis.static.analyse_stream import analyse_lines, lines_of
from analysis.static.printers import PRINTERS


@click.command("static")
@click.argument("file", type=click.File("rb"), default="-")
@click.option(
    "--print",
    "printer",
    type=click.Choice(sorted(PRINTERS)),
    help="Print this of one code, given as hex or as a JSON line, instead.",
)
def static_command(file: IO[bytes], printer: str | None) -> None:
    """Static analysis of runtime codes: JSON lines in, JSON lines out. Needs no node, no store.
    Each answer is written as soon as it is made.

    Example: echo '{"id": 1, "runtime": "0x6001..."}' | assay static
    """
    if printer is not None:
        click.echo(PRINTERS[printer](_one_code(file)), nl=False)
        return
    for line in analyse_lines(lines_of(file)):
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


def _one_code(file: IO[bytes]) -> bytes:
    """The first line's code. Raises BadParameter where it is none."""
    line = file.readline().strip()
    try:
        text = line.decode()
        if text.startswith("{"):
            text = str(msgspec.json.decode(line)["runtime"])
        return bytes.fromhex(text.removeprefix("0x"))
    except (ValueError, KeyError, msgspec.DecodeError) as error:
        reason = "neither hex nor a JSON line with `runtime`"
        raise click.BadParameter(reason, param_hint="FILE") from error
