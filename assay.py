"""The command line, and the composition root of its commands.

Exit codes: 0 success, 1 our failure, 2 bad usage, 3 the token was refused.
"""

import asyncio
import os
import secrets
import signal
import sys
import tempfile
import time
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import IO

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from analysis.external.connect import connect_services
from analysis.market.token_price import TokenPrice, find_price
from analysis.pipeline.scan import scan
from analysis.reads.indexed_facts import NoFactsIndex
from analysis.static.analyse_stream import analyse_lines, lines_of
from analysis.token.admission import admit_address
from api.formats.rendering import FORMATS, Format, render_refusal, render_report
from api.serving.serve import check_address, stop_on_signals
from config.chains import Chain
from config.errors import AssayError, ConfigError, TokenRefusedError, UpstreamError
from config.load import choose_enabled, load_chains
from config.log import configure_log
from config.plans import load_plans
from config.primitives import checksum
from config.settings import Settings, load_settings
from config.terminal import printable
from demo.embedded import EmbeddedChain, run_embedded_chain
from indexer.backfill import BackfillProgress, backfill
from indexer.follow import follow
from indexer.rpc import RpcClient
from service import desk_of, run_service
from sql.chain_progress import read_counts
from sql.console import run_sql
from sql.ledger import Ledger
from sql.rows import Report
from sql.store import Store

EXIT_FAILURE = 1
EXIT_REFUSED = 3
EXIT_INTERRUPTED = 130

_STALE_AFTER_S = 60.0
"""A chain is stale when its tip is behind the head by blocks worth more than this."""

_ZOO_WIDTH = 120
_OUT = Console(soft_wrap=True, highlight=False)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Assay: can this token be bought, sold and kept?

    Nodes come from ASSAY_RPC_<chain id>, the store from ASSAY_STORE, an overlay from ASSAY_CONFIG.
    """


def main() -> None:
    """Run one command; our errors become one line and an exit code."""
    # polars makes system calls restart after Ctrl-C: a wait for input would not end
    signal.siginterrupt(signal.SIGINT, True)
    configure_log()
    try:
        sys.exit(cli.main(standalone_mode=False))
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except TokenRefusedError as error:
        click.echo(f"refused: {error.code}: {printable(error.reason)}", err=True)
        sys.exit(EXIT_REFUSED)
    except AssayError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(EXIT_FAILURE)


# --- serve and demo -----------------------------------------------------------------------------


@cli.command("serve")
@click.option("--host", help="Address to listen on; else the settings' one.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; else the settings' one.")
def serve_command(host: str | None, port: int | None) -> None:
    """Follow chains, judge tokens and answer requests, in one process.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay serve --port 8000
    """
    settings = load_settings(os.environ)
    chosen_port = settings.port if port is None else port
    asyncio.run(run_service(settings, host=host or settings.host, port=chosen_port))


@cli.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
def demo(host: str, port: int) -> None:
    """A chain of its own with real exchanges and a zoo of tokens, and the service on top.

    Example: assay demo --port 8000
    """
    check_address(host, port)
    with tempfile.TemporaryDirectory(prefix="assay-demo-") as folder, run_embedded_chain() as zoo:
        settings = load_settings(
            {
                f"ASSAY_RPC_{zoo.node.chain_id}": f"{zoo.node.ws_url},{zoo.node.url}",
                "ASSAY_CONFIG": str(zoo.overlay),
                "ASSAY_STORE": str(Path(folder) / "demo.duckdb"),
                "ASSAY_BILLING_SECRET": secrets.token_urlsafe(),
            }
        )
        with closing(Ledger.open(settings.ledger)) as ledger:
            key = ledger.create_key(load_plans()["developer"], label="demo", now_s=int(time.time()))
        asyncio.run(
            run_service(
                settings,
                host=host,
                port=port,
                announce=lambda port: _print_zoo(zoo, key.plaintext, f"http://{host}:{port}"),
            )
        )


def _print_zoo(zoo: EmbeddedChain, key: str, base_url: str) -> None:
    table = Table(title="The demo's tokens, on the chain ethereum")
    for heading in ("token", "what it does", "address"):
        table.add_column(heading, no_wrap=True)
    for token in zoo.world.tokens:
        table.add_row(token.symbol, token.trait, checksum(token.address))
    for issued in zoo.world.launched:
        table.add_row(issued.symbol, issued.trait, checksum(issued.address))
    # A truncated address is useless, so the width is fixed.
    Console(width=_ZOO_WIDTH).print(table)
    address = checksum(zoo.world.tokens[0].address)
    _OUT.print(f"key:  {key}")
    _OUT.print(f"curl -H 'X-API-Key: {key}' {base_url}/token/ethereum/{address}")
    _OUT.print("Ctrl-C ends all of it.")


# --- one-off commands ---------------------------------------------------------------------------


@cli.command()
@click.argument("chain")
@click.option("--from", "from_block", type=click.IntRange(0), help="First block; else follow.")
@click.option("--to", "to_block", type=click.IntRange(0), help="Last block; else the head's final.")
def index(chain: str, from_block: int | None, to_block: int | None) -> None:
    """Follow a chain, or back-fill a range of it and end. Goes on where it was left.

    Example: assay index ethereum --from 10000835 --to 10100000
    """
    settings = load_settings(os.environ)
    asyncio.run(_index(settings, _find_chain(settings, chain), from_block, to_block))


async def _index(
    settings: Settings, chain: Chain, from_block: int | None, to_block: int | None
) -> None:
    stop = asyncio.Event()
    stop_on_signals(stop)
    async with AsyncExitStack() as stack:
        store = stack.enter_context(closing(Store.open(settings.store)))
        client = await _connect(stack, chain, settings)
        if from_block is None and to_block is None:
            await follow(chain, client, store, settings.indexer, stop=stop)
            return
        head = await client.fetch_head()
        last = max(0, head.number - chain.finality_blocks) if to_block is None else to_block
        first = _start_of(chain) if from_block is None else from_block
        columns = (TextColumn("blocks"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("blocks", total=last - first + 1)

            def show(progress: BackfillProgress) -> None:
                bar.update(task, completed=progress.done_to - first + 1)

            result = await backfill(
                chain,
                client,
                store,
                settings.indexer,
                from_block=first,
                to_block=last,
                progress=show,
            )
        _OUT.print(
            f"blocks {first} to {last}: {result.rows} rows of {result.logs} logs in "
            f"{result.seconds:.1f} s, {result.logs_per_s:.0f} logs/s"
        )


def _start_of(chain: Chain) -> int:
    """Return the first block of the chain's exchanges, as far as the chain file has it."""
    known = [dex.from_block for dex in chain.dexes if dex.from_block is not None]
    return min(known, default=chain.start_block or 0)


@cli.command("scan")
@click.argument("chain")
@click.argument("address")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="native",
    show_default=True,
)
@click.option("--price", is_flag=True, help="Fill the four price fields.")
def scan_command(chain: str, address: str, form: Format, price: bool) -> None:
    """Judge one token and print the answer as JSON; needs a node, but no server and no store.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay scan ethereum 0x6B17...1d0F
    """
    settings = load_settings(os.environ)
    found = _find_chain(settings, chain)
    try:
        report, worth = asyncio.run(_scan(settings, found, address, is_priced=price))
    except TokenRefusedError as error:
        click.echo(printable(render_refusal(found, address, form, error).decode()))
        raise
    body = render_report(
        report,
        found,
        form,
        now_s=time.time(),
        liquid_above_usd=settings.analysis.min_liquidity_usd,
        has_owner_simulation=settings.analysis.owner_simulation,
        price=worth,
    )
    click.echo(printable(body.decode()))


async def _scan(
    settings: Settings, chain: Chain, address: str, *, is_priced: bool
) -> tuple[Report, TokenPrice | None]:
    token = admit_address(address)
    async with AsyncExitStack() as stack:
        client = await _connect(stack, chain, settings)
        outside = await stack.enter_async_context(connect_services(settings))
        context = desk_of(chain, client, NoFactsIndex(), settings, outside=outside)
        *_, report = [one async for one in scan(context, token)]
        if not is_priced:
            return report, None
        return report, await find_price(
            chain, report, market_data=outside.market_data, now_s=time.time()
        )


@cli.command()
@click.argument("file", type=click.File("rb"), default="-")
def static(file: IO[bytes]) -> None:
    """Static analysis of runtime codes: JSON lines in, JSON lines out. Needs no node, no store.
    Each answer is written as soon as it is made.

    Example: echo '{"id": 1, "runtime": "0x6001..."}' | assay static
    """
    for line in analyse_lines(lines_of(file)):
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


@cli.group()
def keys() -> None:
    """API keys. Example: assay keys create --plan pro --label "trading bot" """


@keys.command()
@click.option("--plan", required=True, help="One of config/plans.toml.")
@click.option("--label", required=True, help="Who or what it is for.")
def create(plan: str, label: str) -> None:
    """Make a key and print it, once. Example: assay keys create --plan pro --label bot"""
    plans = load_plans()
    if plan not in plans:
        raise click.BadParameter(f"one of {', '.join(plans)}", param_hint="--plan")  # noqa: TRY003
    with closing(Ledger.open(load_settings(os.environ).ledger)) as ledger:
        new = ledger.create_key(plans[plan], label=label, now_s=int(time.time()))
    click.echo(new.plaintext)


@keys.command("list")
def list_keys() -> None:
    """All keys, never their secrets. Example: assay keys list"""
    with closing(Ledger.open(load_settings(os.environ).ledger)) as ledger:
        for row in ledger.list_keys():
            click.echo(printable(msgspec.json.encode(row).decode()))


@keys.command()
@click.argument("key_id", type=int)
def revoke(key_id: int) -> None:
    """End a key at once. Example: assay keys revoke 3"""
    with closing(Ledger.open(load_settings(os.environ).ledger)) as ledger:
        if not ledger.revoke(key_id, now_s=int(time.time())):
            raise click.BadParameter(f"no live key {key_id}", param_hint="KEY_ID")  # noqa: TRY003
    click.echo(f"revoked {key_id}")


@cli.command()
def status() -> None:
    """Per chain: head, tip, lag, rows, queue. Ends with 1 when a chain is stale.

    Example: assay status
    """
    settings = load_settings(os.environ)
    chains = choose_enabled(load_chains(settings.overlay), settings)
    counts = read_counts(settings.store)
    table = Table(
        "chain", "head", "tip", "lag", "pools", "transfers", "histories", "queue", "state"
    )
    is_stale = False
    for chain in chains:
        head = asyncio.run(_head_of(settings, chain))
        found = counts.get(chain.id)
        lag = None if isinstance(head, str) or found is None else max(0, head - found.tip)
        fresh = lag is not None and lag * chain.block_time_s <= _STALE_AFTER_S
        is_stale |= not fresh
        rows = (
            (None,) * 4
            if found is None
            else (found.pools, found.transfers, found.whole_histories, found.queue)
        )
        state = head if isinstance(head, str) else "fresh" if fresh else "stale"
        cells = (None if isinstance(head, str) else head, found.tip if found else None, lag, *rows)
        table.add_row(chain.slug, *map(_cell, cells), _cell(state))
    _OUT.print(table)
    if is_stale:
        sys.exit(EXIT_FAILURE)


async def _head_of(settings: Settings, chain: Chain) -> int | str:
    """Return the head's number, or the reason why it is not available."""
    try:
        async with AsyncExitStack() as stack:
            client = await _connect(stack, chain, settings)
            return (await client.fetch_head()).number
    except UpstreamError as error:
        return str(error)


@cli.command("sql")
@click.argument("statement")
def sql_command(statement: str) -> None:
    """Read-only SQL on the store, also while another process serves from it.

    A table on a terminal, else one JSON array a row after one with the column names.

    Example: assay sql "select * from v_pools limit 5"
    """
    answer = run_sql(load_settings(os.environ).store, statement)
    if _OUT.is_terminal:
        table = Table(*(Column(_cell(name)) for name in answer.columns))
        for row in answer.rows:
            table.add_row(*map(_cell, row))
        _OUT.print(table)
    else:
        for line in (answer.columns, *answer.rows):
            click.echo(printable(msgspec.json.encode(line).decode()))
    if answer.truncated:
        click.echo(f"only the first {len(answer.rows)} rows are shown", err=True)


def _cell(value: object) -> Text:
    """Return a table cell as plain text, never as markup or terminal escape sequences."""
    return Text("" if value is None else printable(str(value)))


def _find_chain(settings: Settings, name: str) -> Chain:
    """Return a served chain by slug or id. Raises BadParameter for an unknown name, ConfigError
    without a node."""
    chains = {
        key: chain for chain in load_chains(settings.overlay) for key in (chain.slug, str(chain.id))
    }
    if name not in chains:
        raise click.BadParameter(f"{name} is none of {', '.join(chains)}", param_hint="CHAIN")  # noqa: TRY003
    chain = chains[name]
    if chain.id not in settings.rpc_urls:
        raise ConfigError(source="environment", key=f"ASSAY_RPC_{chain.id}", reason="not set")
    return chain


async def _connect(stack: AsyncExitStack, chain: Chain, settings: Settings) -> RpcClient:
    client = await RpcClient.connect(settings.rpc_urls[chain.id], chain.id, settings.rpc)
    stack.push_async_callback(client.aclose)
    return client


if __name__ == "__main__":
    main()
