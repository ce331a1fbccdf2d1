"""Commands about tokens and codes: scan, record, replay, review, static, backtest."""

from pathlib import Path
from typing import IO, TYPE_CHECKING

import click
from click.core import ParameterSource

from assay.commands.chain_argument import CHAIN
from assay.commands.loading import loading

if TYPE_CHECKING:
    from api.formats.rendering import Format
    from assay.commands.runs.run_backtest import BacktestOutput, ReadSpan
    from assay.commands.runs.run_review import Failure
    from assay.commands.runs.run_scan import Output


FORMATS = ("native", "compat", "summary", "goplus", "evidence")
"""Those of `api.formats.rendering`, shown by help and completion without importing it."""


@click.command("scan")
@click.argument("chain", type=CHAIN)
@click.argument("address")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="native",
    show_default=True,
    help="Format of the answer as JSON or CSV.",
)
@click.option(
    "--output",
    type=click.Choice(["card", "json", "csv"]),
    help="A card for a terminal, JSON, or a CSV header with a row.  [default: json; on a terminal "
    "without --format: card]",
)
@click.option("--price", is_flag=True, help="Fill in the four price fields.")
@click.pass_context
def scan_command(
    ctx: click.Context,
    chain: str,
    address: str,
    form: "Format",
    output: "Output | None",
    price: bool,
) -> None:
    """Analyse one token and print the report: a card on a terminal, else JSON. Needs a node, but no
    server and no store.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay scan eth 0x6B17...1d0F
    """
    with loading():
        from assay.commands.runs.run_scan import choose_output, run_scan  # noqa: PLC0415 - not for help and completion

    is_format_chosen = ctx.get_parameter_source("form") is not ParameterSource.DEFAULT
    chosen = output or choose_output(is_format_chosen=is_format_chosen)
    run_scan(chain, address, form=form, output=chosen, is_priced=price)


@click.command("record")
@click.argument("chain", type=CHAIN)
@click.argument("address")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def record_command(chain: str, address: str, file: Path) -> None:
    """Analyse one token, and write its evidence pack to FILE: the report and all its calls.

    JSON if FILE ends in .json, else compressed with zstd. Signed if ASSAY_SIGNING_KEY is set. Needs
    a node, but no store.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay record eth 0x6B17...1d0F dai.pack.zst
    """
    with loading():
        from assay.commands.runs.run_record import run_record  # noqa: PLC0415 - not for help and completion

    run_record(chain, address, file)


@click.command("replay")
@click.argument("file", type=click.File("rb"))
@click.option(
    "--rpc",
    "url",
    help="Node to use, http(s) or ws(s).  [default: ASSAY_RPC_<chain id> of the pack]",
)
@click.option("--all", "shows_all", is_flag=True, help="Also list equal calls.")
@click.pass_context
def replay_command(ctx: click.Context, file: IO[bytes], url: str | None, shows_all: bool) -> None:
    """Run the calls of an evidence pack again, and print the differences: calls, and fields of the
    report that do not follow from them. Reads only; needs a node with the state of the block.

    Exit codes: 0 all equal, 1 differences, 2 not run or incomplete.

    Example: assay replay dai.pack.zst --rpc http://127.0.0.1:8545
    """
    with loading():
        from assay.commands.runs.run_replay import run_replay  # noqa: PLC0415 - not for help and completion

    ctx.exit(run_replay(file, url, shows_all=shows_all))


FAILURES = ("danger", "warning", "never")
"""Those of `assay.commands.runs.run_review`, shown by help and completion without importing it."""


@click.command("review")
@click.argument("file", type=click.File("rb"))
@click.option(
    "--base",
    type=click.File("rb"),
    help="Earlier version of the list: only tokens that it lacks are analysed.",
)
@click.option(
    "--chain",
    "chains",
    type=CHAIN,
    multiple=True,
    help="Analyse tokens of this chain only. Can be repeated.  [default: all]",
)
@click.option(
    "--fail-on",
    type=click.Choice(FAILURES),
    default="danger",
    show_default=True,
    help="Worst verdict for which the exit code is 1.",
)
@click.option("--sarif", type=click.Path(dir_okay=False, path_type=Path), help="Also write SARIF.")
@click.pass_context
def review_command(
    ctx: click.Context,
    file: IO[bytes],
    base: IO[bytes] | None,
    chains: tuple[str, ...],
    fail_on: "Failure",
    sarif: Path | None,
) -> None:
    """Analyse the tokens of a token list, and print a report in Markdown. FILE is a list as
    Uniswap defines it, or has lines of a chain and an address. Needs nodes, but no store.

    Exit codes: 0 good, 1 a token fails or was not analysed.

    Example: assay review tokens.json --base published.json --sarif review.sarif
    """
    with loading():
        from assay.commands.runs.run_review import run_review  # noqa: PLC0415 - not for help and completion

    ctx.exit(run_review(file, base, chains, fail_on=fail_on, sarif=sarif))


PRINTERS = ("cfg", "dot", "findings", "guards", "storage")
"""Those of `analysis.static.printers`, shown by help and completion without importing it."""


@click.command("static")
@click.argument("file", type=click.File("rb"), default="-")
@click.option(
    "--print",
    "printer",
    type=click.Choice(PRINTERS),
    help="Print this view of one code, given as hex or as a JSON line.",
)
def static_command(file: IO[bytes], printer: str | None) -> None:
    """Analyse runtime codes statically: JSON lines in, JSON lines out. Needs no node, no store.
    Each answer is written as soon as it is ready.

    Example: echo '{"id": 1, "runtime": "0x6001..."}' | assay static
    """
    with loading():
        from assay.commands.runs.run_static import run_printer, run_static  # noqa: PLC0415 - not for help and completion

    if printer is None:
        run_static(file)
    else:
        run_printer(file, printer)


@click.command("backtest")
@click.argument("chain", type=CHAIN)
@click.option("--from", "first", type=click.IntRange(min=0), required=True, help="First block.")
@click.option("--to", "last", type=click.IntRange(min=0), required=True, help="Last block.")
@click.option(
    "--receipts",
    type=click.Choice(["none", "hour", "day", "week"]),
    default="hour",
    show_default=True,
    help="Time after its first trade in which a token's sales are read from the node.",
)
@click.option(
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="A table, or a JSON object per line: each token, then each row of the matrix.",
)
@click.option(
    "--record",
    is_flag=True,
    help="Store the outcomes of the first day, which reports of tokens with the same findings show "
    "from a hundred on. Needs --receipts day or week.",
)
def backtest_command(
    chain: str, first: int, last: int, receipts: "ReadSpan", output: "BacktestOutput", record: bool
) -> None:
    """Analyse tokens as of the block before their first trade, and score the verdicts.

    For each token that first traded in the range: its verdict at that time, and the outcome of each
    buyer within an hour, a day, a week, by the trades of the store and by the transactions that
    tried to sell. Needs a node with the state of those blocks. Exits with 1 if a token with the
    verdict safe trapped a buyer within an hour.

    Example: assay backtest eth --from 21000000 --to 21001000
    """
    with loading():
        from assay.commands.runs.run_backtest import run_backtest  # noqa: PLC0415 - not for help and completion

    run_backtest(
        chain, first=first, last=last, receipts=receipts, output=output, is_recorded=record
    )
