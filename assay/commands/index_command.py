"""assay index: follow a chain, or back-fill a range of it."""

import click

from assay.commands.chain_argument import CHAIN
from assay.commands.loading import loading


@click.command("index")
@click.argument("chain", type=CHAIN)
@click.option("--from", "from_block", type=click.IntRange(0), help="First block; else follow.")
@click.option("--to", "to_block", type=click.IntRange(0), help="Last block; else the last final.")
def index_command(chain: str, from_block: int | None, to_block: int | None) -> None:
    """Follow a chain, or back-fill a range of it and end. Goes on where it was left.

    Example: assay index ethereum --from 10000835 --to 10100000
    """
    with loading():
        from assay.commands.run_index import run_index  # noqa: PLC0415 - not for help and completion

    run_index(chain, from_block, to_block)
