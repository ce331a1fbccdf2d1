"""Work of `assay scan`: one analysis, printed as a card, as JSON or as CSV."""

import asyncio
import os
import sys
import time
from contextlib import AsyncExitStack, closing
from typing import Literal

import click
import msgspec

from analysis.external.connect import connect_services
from analysis.external.market_data import MarketData
from analysis.market.token_price import find_price
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.reads.indexed_facts import FactsIndex, NoFactsIndex
from analysis.token.admission import admit_address
from api.formats.rendering import Format, render_refusal, render_report
from api.formats.token_snapshot import TokenSnapshot, take_snapshot
from assay.commands.runs.csv_row import csv_of
from assay.commands.runs.nodes import asking_nodes_of, connect, find_chain
from assay.commands.runs.progress import progress_steps
from assay.commands.runs.static_results import open_static_results
from assay.service.store_adapter import TradeHistory
from config.facts.chain import Chain
from config.load_settings import load_settings
from config.settings import Settings
from config.store_address import FileAddress
from core.errors import TokenRefusedError
from core.evm.primitives import Address
from core.process.terminal import printable
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles

Output = Literal["card", "json", "csv"]


def choose_output(*, is_format_chosen: bool) -> Output:
    """Choose the default output: a card on a terminal, JSON for programs and with a format."""
    return "card" if sys.stdout.isatty() and not is_format_chosen else "json"


def run_scan(name: str, address: str, *, form: Format, output: Output, is_priced: bool) -> None:
    """Analyse one token on the chain of that name and print the answer.

    Raises BadParameter, ConfigError, UpstreamError, InternalError; TokenRefusedError after the
    refusal is printed.
    """
    settings = load_settings(os.environ)
    chain = find_chain(settings, name)
    try:
        with asking_nodes_of(chain), progress_steps(is_kept=False) as show:
            show("reading the chain, simulating trades", 0, None)
            snapshot = asyncio.run(_scan(settings, chain, address, is_priced=is_priced))
    except TokenRefusedError as error:
        if output != "card":
            _print(render_refusal(chain, address, form, error), output)
        raise
    if output == "card":
        _print_card(snapshot)
    else:
        _print(render_report(snapshot, form), output)


def _print(body: bytes, output: Literal["json", "csv"]) -> None:
    if output == "csv":
        click.echo(csv_of(body), nl=False)
    else:
        click.echo(printable(body.decode()))


def _print_card(snapshot: TokenSnapshot) -> None:
    from api.pages.views.token_view import view_token  # noqa: PLC0415 - JSON is printed without
    from assay.commands.runs.tables import make_console  # noqa: PLC0415 - as above
    from assay.commands.runs.token_card import CARD_WIDTH, make_card, more_of  # noqa: PLC0415 - as above

    console = make_console(soft_wrap=False)
    console.width = min(console.width, CARD_WIDTH)
    view = view_token(snapshot, now_s=time.time())
    console.print(make_card(view))
    console.print(more_of(view), soft_wrap=True)


async def _scan(
    settings: Settings, chain: Chain, address: str, *, is_priced: bool
) -> TokenSnapshot:
    token = admit_address(address)
    async with AsyncExitStack() as stack:
        context = await open_context(stack, settings, chain)
        outside = context.external if is_priced else None
        return await scan_token(
            context, token, market_data=None if outside is None else outside.market_data
        )


async def open_context(stack: AsyncExitStack, settings: Settings, chain: Chain) -> ChainContext:
    """Connect to a chain's nodes and other services until the stack is closed.

    Raises UpstreamError, ConfigError; StoreError for a store that cannot be opened.
    """
    static_results = await open_static_results(stack)
    return ChainContext(
        chain=chain,
        node=await connect(stack, chain, settings),
        index=_open_history(stack, settings),
        settings=settings.analysis,
        now_s=time.time,
        external=await stack.enter_async_context(connect_services(settings)),
        static_results=static_results,
    )


async def scan_token(
    context: ChainContext, token: Address, *, market_data: MarketData | None = None
) -> TokenSnapshot:
    """Analyse one token. Raises TokenRefusedError, UpstreamError.

    `market_data` None: the snapshot has no price.
    """
    chain, settings = context.chain, context.settings
    *_, report = [one async for one in scan(context, token)]
    price = None
    if market_data is not None:
        price = await find_price(chain, report, market_data=market_data, now_s=time.time())
    snapshot = take_snapshot(
        report,
        chain,
        now_s=time.time(),
        liquid_above_usd=settings.min_liquidity_usd,
        has_owner_simulation=settings.owner_simulation,
        has_liquidity_check=settings.finds_liquidity_holders,
        price=price,
    )
    if not isinstance(context.index, TradeHistory):
        return snapshot
    outcomes = await context.index.outcomes(chain)
    return msgspec.structs.replace(snapshot, outcomes=outcomes)


def _open_history(stack: AsyncExitStack, settings: Settings) -> FactsIndex:
    """Return the track records of the store in ASSAY_STORE; none where there is no such store.

    Raises StoreError for a store that cannot be opened.
    """
    if (
        isinstance(settings.store, FileAddress)
        and not StoreFiles(prefix=settings.store.path).serving.exists()
    ):
        return NoFactsIndex()
    store = stack.enter_context(closing(Store.open(settings.store, must_exist=True)))
    return TradeHistory(store, settings.analysis)
