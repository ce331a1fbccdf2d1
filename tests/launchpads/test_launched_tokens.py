"""Protects launched tokens: their issuer, and the curve they are sold on."""

import time

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import IndexedFacts, NoFactsIndex
from api.formats.native.native import render_native
from api.formats.token_snapshot import take_snapshot
from api.pages.views.token_view import view_token
from assay.demo.anvil import ETHER
from assay.demo.demo_launchpads import CURVE_PAD, DIRECT_PAD
from assay.demo.layout import NATIVE_USD
from assay.demo.reads import balance_of
from config.facts.chain import Chain as ChainFacts
from config.facts.launchpad import Launchpad
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef
from core.report.report import PoolResultRow, Report
from core.report.rows import LaunchRow
from core.rpc.messages import RpcFault
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.chain.contexts import judge, with_chain, with_node
from tests.harness.chain.transactions import Chain
from tests.harness.node.faults import Hindered


async def report_of(chain: Chain, context: ChainContext, key: str) -> Report:
    return await judge(context, chain.world.issued(key).address)


def pools_of(report: Report) -> tuple[PoolResultRow, ...]:
    assert report.pools is not None
    return report.pools


async def test_a_token_on_the_curve_has_the_curve_as_its_pool(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.world.issued("curve")
    report = await judge(context, token.address)
    (pool,) = pools_of(report)
    held_wei = int(str(chain.node.rpc("eth_getBalance", token.pad, "latest")), 16)
    assert held_wei == 5 * ETHER + 24 * ETHER  # the second is what the sold-out token raised
    assert (pool.kind, pool.pool, pool.quote) == ("curve_a", token.pad, ZERO_ADDRESS)
    assert pool.quote_side_usd == pytest.approx(5 * NATIVE_USD)
    assert pool.liquidity_usd == pytest.approx(2 * 5 * NATIVE_USD)
    assert (pool.buy, pool.buy_tax, pool.sell, pool.sell_tax) == (None, None, None, None)
    assert (pool.is_launchpad, pool.error_code) == (True, None)
    assert (report.token.is_launchpad_token, report.token.launchpad_name) == (True, CURVE_PAD)

    features = render_native(report, clock=None, liquid_above_usd=100.0)
    assert (features.cannot_buy, features.is_liquid, features.is_in_dex) == (None, True, False)
    assert features.launchpad_name == CURVE_PAD


@pytest.mark.parametrize(
    ("key", "bar"),
    [
        ("curve", ("5 of 24 ETH paid in", "20.83 %")),
        ("curve_fresh", ("0 of 24 ETH paid in", "0 %")),
        ("curve_sold_out", None),
        ("graduated", None),
        ("seeded", None),
    ],
)
async def test_the_page_shows_how_far_a_curve_is(
    chain: Chain, context: ChainContext, key: str, bar: tuple[str, str] | None
) -> None:
    report = await report_of(chain, context, key)
    now_s = report.token.scanned_at_s
    snapshot = take_snapshot(report, context.chain, now_s=now_s, liquid_above_usd=100.0)
    charts = {chart.title: chart for chart in view_token(snapshot, now_s=now_s).charts}
    found = charts.get("Progress of the bonding curve")
    shown = None if found is None else (found.bars[0].label, found.bars[0].text)
    assert shown == bar


async def test_what_is_bought_on_the_curve_is_what_its_reserves_lose(
    chain: Chain, context: ChainContext
) -> None:
    token, trader = chain.world.issued("curve"), chain.world.traders[0]
    before = await judge(context, token.address)
    chain.send(trader, token.pad, "buyToken(address)", token.address, value_wei=ETHER)
    bought = balance_of(chain.node, token.address, trader)
    assert bought > 0
    after = await judge(context, token.address)
    paid = (pools_of(after)[0].quote_side_usd - pools_of(before)[0].quote_side_usd) / NATIVE_USD
    assert paid == pytest.approx(1)


async def test_a_fresh_curve_is_there_and_too_shallow(chain: Chain, context: ChainContext) -> None:
    (pool,) = pools_of(await report_of(chain, context, "curve_fresh"))
    assert (pool.kind, pool.liquidity_usd, pool.error_code) == ("curve_a", 0, "liquidity_too_low")


async def test_between_curve_and_pool_there_is_no_venue(
    chain: Chain, context: ChainContext
) -> None:
    report = await report_of(chain, context, "curve_sold_out")
    assert report.pools == ()
    assert (report.token.is_launchpad_token, report.token.launchpad_name) == (True, CURVE_PAD)


@pytest.mark.parametrize(("key", "platform"), [("graduated", CURVE_PAD), ("seeded", DIRECT_PAD)])
async def test_a_launched_token_in_an_ordinary_pool_is_traded_like_any_other(
    chain: Chain, context: ChainContext, key: str, platform: str
) -> None:
    report = await report_of(chain, context, key)
    (pool,) = pools_of(report)
    assert (pool.kind, pool.is_launchpad) == ("AmmV2", None)
    assert (pool.buy, pool.sell) == ("passed", "passed")
    assert (report.token.is_launchpad_token, report.token.launchpad_name) == (True, platform)


async def test_the_whole_way_from_curve_to_pool(chain: Chain, context: ChainContext) -> None:
    token, trader = chain.world.issued("curve"), chain.world.traders[0]
    chain.send(trader, token.pad, "buyToken(address)", token.address, value_wei=30 * ETHER)
    assert (await judge(context, token.address)).pools == ()
    chain.send(trader, token.pad, "addLiquidity(address)", token.address)
    report = await judge(context, token.address)
    assert [pool.kind for pool in pools_of(report)] == ["AmmV2"]
    assert report.token.launchpad_name == CURVE_PAD


async def test_an_ordinary_token_is_no_launchpads(chain: Chain, context: ChainContext) -> None:
    report = await judge(context, chain.world.token("honest").address)
    assert (report.token.is_launchpad_token, report.token.launchpad_name) == (False, None)


async def test_a_refused_search_is_no_no(chain: Chain, context: ChainContext) -> None:
    """The node refuses the logs, and one of the platforms is known by its events only."""
    refusal = RpcFault(code=-32005, message="query returned more than 10000 results")
    lacking = with_node(context, Hindered(context.node, "eth_getLogs", answer=refusal))
    report = await judge(lacking, chain.world.token("honest").address)
    assert report.pools
    assert report.token.is_launchpad_token is None
    evidence_body = next(row.body for row in report.evidence if row.key == "is_launchpad_token")
    assert DIRECT_PAD in evidence_body
    # A registry needs no logs.
    issued = await judge(lacking, chain.world.issued("graduated").address)
    assert issued.token.launchpad_name == CURVE_PAD


class Indexed(NoFactsIndex):
    """Tables that have seen all there is, and one launch."""

    def __init__(self, facts: ChainFacts, *launches: LaunchRow) -> None:
        self._covered = frozenset(pad.subject for pad in facts.launchpads)
        self._launches = launches

    async def known(
        self, _chain: ChainFacts, token: Address, _quotes: object, _pin: BlockRef | None
    ) -> IndexedFacts:
        own = tuple(row for row in self._launches if row.token == token)
        return IndexedFacts(launches=own, covered_launches=self._covered)


async def test_where_the_index_has_looked_no_logs_are_asked_for(
    chain: Chain, context: ChainContext, facts: ChainFacts
) -> None:
    seeded = chain.world.issued("seeded")
    row = LaunchRow(
        chain_id=1,
        token=seeded.address,
        slug=DIRECT_PAD,
        emitter=seeded.pad,
        creator=None,
        tx_hash=None,
        block_number=1,
        log_index=0,
    )
    refusal = RpcFault(code=-32005, message="no logs here")
    indexed = ChainContext(
        chain=without_v4(facts),
        node=Hindered(context.node, "eth_getLogs", answer=refusal),
        index=Indexed(facts, row),
        settings=context.settings,
        now_s=time.time,
    )
    issued = await judge(indexed, seeded.address)
    assert issued.token.launchpad_name == DIRECT_PAD
    ordinary = await judge(indexed, chain.world.token("honest").address)
    assert ordinary.token.is_launchpad_token is False


def without_v4(facts: ChainFacts) -> ChainFacts:
    kept = tuple(dex for dex in facts.dexes if dex.kind != "AmmV4")
    return msgspec.structs.replace(facts, dexes=kept)


async def test_a_token_may_name_whom_it_likes(chain: Chain, context: ChainContext) -> None:
    """Only a factory that confirms it makes it a launchpad's, and one without a name here."""
    known, fork, denying = (chain.deploy("LaunchFactory") for _ in range(3))
    pons = next(pad for pad in public_pads("chain_4663") if pad.getter == "launchFactory()")
    pads = (msgspec.structs.replace(pons, contracts=(known,)),)
    with_pons = with_chain(context, msgspec.structs.replace(context.chain, launchpads=pads))
    named_accounts, resolved = {}, {}
    for factory in (known, fork, denying, chain.deploy("HonestToken", "No", "FACTORY")):
        token = chain.deploy("ClaimingToken", factory)
        if factory == fork:
            chain.send(chain.world.owner, fork, "launch(address,address)", token, ZERO_ADDRESS)
        report = await judge(with_pons, token)
        named_accounts[factory] = report.token.launchpad_name
        resolved[factory] = report.pools is not None
    assert named_accounts == {
        factory: "launchpad" if factory == fork else None for factory in named_accounts
    }
    # The fork's curve is not known here, so the absence of a pool is unknown.
    assert resolved == {factory: factory != fork for factory in named_accounts}


def public_pads(slug: str) -> tuple[Launchpad, ...]:
    return next(chain.launchpads for chain in BUILT_IN_CHAINS if chain.slug == slug)
