"""assay scan: analyse one token and print the answer."""

import asyncio
import os
import time
from contextlib import AsyncExitStack

import click

from analysis.external.connect import connect_services
from analysis.market.token_price import TokenPrice, find_price
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.reads.indexed_facts import NoFactsIndex
from analysis.token.admission import admit_address
from api.formats.rendering import FORMATS, Format, render_refusal, render_report
from api.formats.token_snapshot import take_snapshot
from commands.nodes import connect, find_chain
from config.chains import Chain
from config.settings import load_settings
from config.settings_model import Settings
from core.errors import TokenRefusedError
from core.report import Report
from core.terminal import printable


@click.command("scan")
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
    """Judge one token and print the answer as JSON. Needs a node, but no server and no store.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay scan ethereum 0x6B17...1d0F
    """
    settings = load_settings(os.environ)
    found = find_chain(settings, chain)
    try:
        report, worth = asyncio.run(_scan(settings, found, address, is_priced=price))
    except TokenRefusedError as error:
        click.echo(printable(render_refusal(found, address, form, error).decode()))
        raise
    snapshot = take_snapshot(
        report,
        found,
        now_s=time.time(),
        liquid_above_usd=settings.analysis.min_liquidity_usd,
        has_owner_simulation=settings.analysis.owner_simulation,
        price=worth,
    )
    click.echo(printable(render_report(snapshot, form).decode()))


async def _scan(
    settings: Settings, chain: Chain, address: str, *, is_priced: bool
) -> tuple[Report, TokenPrice | None]:
    token = admit_address(address)
    async with AsyncExitStack() as stack:
        client = await connect(stack, chain, settings)
        outside = await stack.enter_async_context(connect_services(settings))
        context = ChainContext(
            chain=chain,
            node=client,
            index=NoFactsIndex(),
            settings=settings.analysis,
            now_s=time.time,
            external=outside,
        )
        *_, report = [one async for one in scan(context, token)]
        if not is_priced:
            return report, None
        return report, await find_price(
            chain, report, market_data=outside.market_data, now_s=time.time()
        )
