"""assay compact: move final rows to the lake now, and tidy it up."""

import click

from assay.commands.chain_argument import CHAIN
from assay.commands.loading import loading


@click.command("compact")
@click.argument("chain", type=CHAIN, required=False)
def compact_command(chain: str | None) -> None:
    """Move final rows to the lake now, and tidy it up. The service does it by itself every hour.

    Without CHAIN: of every chain. Goes on where it was left.

    Example: assay compact ethereum
    """
    with loading():
        from assay.commands.run_compact import run_compact  # noqa: PLC0415 - not for help and completion

    run_compact(chain)
