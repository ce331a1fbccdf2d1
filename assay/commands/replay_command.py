"""assay replay: run the calls of an evidence pack again."""

from typing import IO

import click

from assay.commands.loading import loading


@click.command("replay")
@click.argument("file", type=click.File("rb"))
@click.option(
    "--rpc",
    "url",
    help="Node to ask, http(s) or ws(s).  [default: ASSAY_RPC_<chain id> of the pack]",
)
@click.option("--all", "shows_all", is_flag=True, help="Also list the calls that are equal.")
@click.pass_context
def replay_command(ctx: click.Context, file: IO[bytes], url: str | None, shows_all: bool) -> None:
    """Run the calls of an evidence pack again, and print what differs: calls, and fields of the
    report that do not follow from them. Reads only; needs a node that has the state of the block.

    Exit codes: 0 all equal, 1 differences, 2 it could not be run, or not whole.

    Example: assay replay dai.pack.zst --rpc http://127.0.0.1:8545
    """
    with loading():
        from assay.commands.run_replay import run_replay  # noqa: PLC0415 - not for help and completion

    ctx.exit(run_replay(file, url, shows_all=shows_all))
