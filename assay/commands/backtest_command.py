"""assay backtest: verdicts of before the first trade, scored by what happened to the buyers."""

from typing import TYPE_CHECKING

import click

from assay.commands.chain_argument import CHAIN
from assay.commands.loading import loading

if TYPE_CHECKING:
    from assay.commands.run_backtest import BacktestOutput, ReadSpan


@click.command("backtest")
@click.argument("chain", type=CHAIN)
@click.option("--from", "first", type=click.IntRange(min=0), required=True, help="First block.")
@click.option("--to", "last", type=click.IntRange(min=0), required=True, help="Last block.")
@click.option(
    "--receipts",
    type=click.Choice(["none", "hour", "day", "week"]),
    default="hour",
    show_default=True,
    help="For how long after its first trade a token's sales are read from the node.",
)
@click.option(
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="A table for people, or a JSON object a line: each token, then each row of the matrix.",
)
def backtest_command(
    chain: str, first: int, last: int, receipts: "ReadSpan", output: "BacktestOutput"
) -> None:
    """Judge tokens as of the block before their first trade, and score what followed.

    Of each token that has first traded in the range: its verdict then, and what became of each of
    its buyers within an hour, a day, a week, by the trades of the store and by the transactions
    that tried to sell. Needs the node to have the state of those blocks. Ends with 1 where a token
    called safe trapped a buyer within an hour.

    Example: assay backtest eth --from 21000000 --to 21001000
    """
    with loading():
        from assay.commands.run_backtest import run_backtest  # noqa: PLC0415 - not for help and completion

    run_backtest(chain, first=first, last=last, receipts=receipts, output=output)
