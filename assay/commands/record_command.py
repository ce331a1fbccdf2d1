"""assay record: analyse one token and write its evidence pack."""

from pathlib import Path

import click

from assay.commands.chain_argument import CHAIN
from assay.commands.loading import loading


@click.command("record")
@click.argument("chain", type=CHAIN)
@click.argument("address")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def record_command(chain: str, address: str, file: Path) -> None:
    """Judge one token, and write its evidence pack to FILE: the report, and every call behind it.

    JSON where FILE ends in .json, else zstd of it. Signed if ASSAY_SIGNING_KEY is set. Needs a
    node, but no store.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay record eth 0x6B17...1d0F dai.pack.zst
    """
    with loading():
        from assay.commands.run_record import run_record  # noqa: PLC0415 - not for help and completion

    run_record(chain, address, file)
