"""Curves of each kind, read from test contracts, and their place among the pools of a token."""

from typing import Literal

import msgspec
import pytest

from analysis.launchpads import origin
from analysis.launchpads.origin import OriginEvidence, OriginReads
from analysis.market.curves.curve import CurveState, Standing
from analysis.market.curves.curve_pools import CURVES, CurveReads
from analysis.pipeline.chain_context import ChainContext
from analysis.reads.node import Node
from analysis.reads.read_batch import ReadBatch
from api.formats.native.native import render_native
from assay.demo.anvil import ETHER
from assay.demo.layout import NATIVE_USD, named_account
from assay.demo.reads import read
from config.facts.launchpad import Launchpad, Registry
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS, Address
from core.report.report import PoolResultRow, Report
from core.rpc.client import RpcClient
from tests.harness.chain.contexts import context_with, judge, with_chain
from tests.harness.chain.transactions import Chain
from tests.harness.external.outside_service import dexscreener_pair, running_market_data
from tests.harness.launchpads.platforms import pad_of

TOKEN = named_account("a launched token")

STRANGER = named_account("nobody's token")

QUOTE = named_account("a quote token")

MILLION = 10**6 * ETHER


async def lead_of(
    node: Node, pad: Launchpad, token: Address
) -> tuple[OriginEvidence, Standing | None]:
    """Both rounds, as an analysis makes them."""
    pin = await node.fetch_head()
    inquiry = origin.begin((pad,), token, (), frozenset())
    first = ReadBatch(pin.hash)
    reads = OriginReads(first, inquiry, to_block=pin.number)
    await first.send(node)
    lead = reads.read(height=pin.number)
    second = ReadBatch(pin.hash)
    curve = CurveReads(second, lead)
    await second.send(node)
    return lead, curve.read()


async def standing(node: Node, pad: Launchpad, token: Address = TOKEN) -> Standing | None:
    lead, found = await lead_of(node, pad, token)
    assert (lead.proof is None) == (found is None)
    return found


def address_in(chain: Chain, registry: Address, signature: str, word: int) -> Address:
    """An address in the registry's record of the token."""
    registered = read(chain.node, registry, signature, TOKEN, returns="(address,address,address)")
    return Address(str(registered[word]))


def state(
    pool: Address,
    quote: Address,
    tokens: int,
    paid: int,
    *,
    target: int | None = None,
    progress: float | None = None,
) -> dict[str, object]:
    return {
        "quote_target_raw": target,
        "progress": pytest.approx(paid / target) if target else progress,
        "pool": pool,
        "quote": quote,
        "token_reserve_raw": tokens,
        "quote_reserve_raw": paid,
    }


def fields(found: Standing | None) -> dict[str, object]:
    assert isinstance(found, CurveState), found
    return {name: getattr(found, name) for name in found.__struct_fields__}


@pytest.mark.parametrize("registry", [0, 1], ids=["manager", "helper"])
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("curve", "on"),
        ("curve_fresh", "on"),
        ("curve_sold_out", "closed"),
        ("graduated", "closed"),
        ("seeded", None),
    ],
)
async def test_four_meme(
    chain: Chain,
    node_client: RpcClient,
    key: str,
    expected: Literal["on", "closed"] | None,
    registry: int,
) -> None:
    """The demo's own platform, by the manager's record and by the helper's."""
    (demo, _) = chain.world.launchpads
    pad = Launchpad(
        slug=demo.slug,
        kind="curve",
        curve="curve_a",
        contracts=demo.contracts,
        registry=demo.registry[registry : registry + 1],
    )
    token = chain.world.issued(key).address
    found = await standing(node_client, pad, token)
    if expected != "on":
        assert found == expected
        return
    info = read(
        chain.node,
        demo.contracts[0],
        "_tokenInfos(address)",
        token,
        returns="(address,address,uint256,uint256,uint256,uint256,uint256,uint256,uint256)",
    )
    offers, paid, target = (int(str(info[at])) for at in (7, 8, 5))
    assert target == 24 * ETHER
    assert fields(found) == state(demo.contracts[0], ZERO_ADDRESS, offers, paid, target=target)


@pytest.mark.parametrize(
    ("status", "sold", "expected"),
    [
        (1, 300 * MILLION, "on"),
        (1, 0, "on"),
        (1, 800 * MILLION, "closed"),  # all of it sold, not yet on an exchange
        (2, 300 * MILLION, "closed"),
        (3, 300 * MILLION, "closed"),
        (4, 800 * MILLION, "closed"),
        (5, 0, "closed"),
        (1, 1001 * MILLION, "closed"),
    ],
)
@pytest.mark.parametrize("quote", [ZERO_ADDRESS, QUOTE])
async def test_flap(
    chain: Chain, node_client: RpcClient, status: int, sold: int, expected: str, quote: Address
) -> None:
    portal = chain.deploy("Portal")
    put = "put(address,uint8,uint256,uint256,uint256,address)"
    sender = chain.world.owner
    assert chain.send(
        sender, portal, put, TOKEN, status, 3 * ETHER, sold, 800 * MILLION, quote
    ).success
    pad = pad_of("curve_b", portal)
    found = await standing(node_client, pad)
    if expected == "on":
        assert fields(found) == state(
            portal, quote, 1000 * MILLION - sold, 3 * ETHER, progress=sold / (800 * MILLION)
        )
    else:
        assert found == expected
    assert await standing(node_client, pad, STRANGER) is None


@pytest.mark.parametrize(
    ("phase", "graduated", "expected"),
    [
        (0, False, "on"),
        (0, True, "closed"),
        (1, False, "closed"),
        (2, True, "closed"),
        (3, True, "closed"),
    ],
)
@pytest.mark.parametrize("quote", [ZERO_ADDRESS, QUOTE])
async def test_pons_and_its_forks(
    chain: Chain, node_client: RpcClient, phase: int, graduated: bool, expected: str, quote: Address
) -> None:
    factory = chain.deploy("LaunchFactory")
    sender = chain.world.owner
    chain.send(sender, factory, "launch(address,address)", TOKEN, quote)
    curve = address_in(chain, factory, "getLaunchedToken(address)", 1)
    chain.send(sender, curve, "put(uint256,uint256,bool)", 2 * ETHER, 500 * MILLION, graduated)
    chain.send(sender, factory, "setPhase(address,uint8)", TOKEN, phase)
    pad = pad_of("curve_c", factory)
    found = await standing(node_client, pad)
    if expected == "on":
        # The phantom quote is in the curve's reserves and not in what it holds.
        assert fields(found) == state(
            curve, quote, 500 * MILLION, 2 * ETHER, target=42 * ETHER // 10
        )
    else:
        assert found == expected
    assert await standing(node_client, pad, STRANGER) is None


@pytest.mark.parametrize(
    ("trading", "on_uniswap", "expected"),
    [
        (True, False, "on"),
        (False, False, "closed"),
        (False, True, "closed"),
        (True, True, "closed"),
    ],
)
async def test_virtuals(
    chain: Chain, node_client: RpcClient, trading: bool, on_uniswap: bool, expected: str
) -> None:
    bonding = chain.deploy("Bonding")
    sender = chain.world.owner
    chain.send(sender, bonding, "launch(address,address)", TOKEN, QUOTE)
    pair = address_in(chain, bonding, "tokenInfo(address)", 2)
    chain.send(sender, pair, "put(uint256,uint256)", 700 * MILLION, 1_500 * ETHER)
    chain.send(sender, bonding, "setStage(address,bool,bool)", TOKEN, trading, on_uniswap)
    pad = pad_of("curve_d", bonding)
    found = await standing(node_client, pad)
    if expected == "on":
        assert fields(found) == state(pair, QUOTE, 700 * MILLION, 1_500 * ETHER)
    else:
        assert found == expected
    assert await standing(node_client, pad, STRANGER) is None


@pytest.mark.parametrize(
    ("curves", "threshold", "expected"),
    [(1, 800, "on"), (6, 800, "on"), (1, 0, "closed"), (0, 1, "unread")],
)
async def test_printr(
    chain: Chain, node_client: RpcClient, curves: int, threshold: int, expected: str
) -> None:
    singleton = chain.deploy("CurveSingleton")
    put = "put(address,(address,uint16,uint256,uint256,uint256,uint256))"
    curve = (QUOTE, curves, 1_000 * MILLION, 3 * ETHER, 2 * ETHER, threshold * MILLION)
    chain.send(chain.world.owner, singleton, put, TOKEN, curve)
    pad = pad_of("curve_e", singleton)
    found = await standing(node_client, pad)
    if expected == "on":
        left = 3 * ETHER * (1_000 * MILLION // curves) // (5 * ETHER)
        assert fields(found) == state(singleton, QUOTE, left, 2 * ETHER)
    else:
        assert found == expected
    assert await standing(node_client, pad, STRANGER) is None


async def test_a_curve_that_does_not_answer_is_unread_and_not_closed(
    chain: Chain, node_client: RpcClient
) -> None:
    """The factory's record names an account as the curve."""
    recorder = chain.deploy("Recorder")
    words = [TOKEN, QUOTE, TOKEN, TOKEN, ZERO_ADDRESS, *("0x0",) * 9, "0x1"]
    answer = bytes.fromhex("".join(word[2:].rjust(64, "0") for word in words))
    question = bytes.fromhex(call_data("getLaunchedToken(address)", TOKEN)[2:])
    chain.send(chain.world.owner, recorder, "record(bytes,bytes)", question, answer)
    assert await standing(node_client, pad_of("curve_c", recorder)) == "unread"


async def test_a_record_that_is_too_short_for_its_curve_is_unread(
    chain: Chain, node_client: RpcClient
) -> None:
    """An overlay may name a registry that is not the curve's."""
    (demo, _) = chain.world.launchpads
    found = Registry(read="exists(address)", set_word=0)
    recorder = chain.deploy("Recorder")
    yes = bytes(31) + b"\x01"
    chain.send(chain.world.owner, recorder, "recordUnknown(bytes,bool)", yes, False)
    for curve in CURVES:
        pad = msgspec.structs.replace(
            demo, curve=curve, contracts=(recorder,), registry=(found,), event=()
        )
        assert await standing(node_client, pad) == "unread"


async def test_pools_are_not_resolved_where_a_curve_could_not_be_read(
    chain: Chain, context: ChainContext
) -> None:
    """The platform has curves, and none that we can read; the token has no other pool."""
    (demo, direct) = context.chain.launchpads
    pads = (msgspec.structs.replace(demo, curve=None), direct)
    facts = msgspec.structs.replace(context.chain, launchpads=pads)
    report = await judge(with_chain(context, facts), chain.world.issued("curve").address)
    assert report.pools is None
    assert report.token.launchpad_name == demo.slug


# --- curve quotes -------------------------------------------------------------------------------

TOKEN_USD = 2.5

"""Price of a quote token that is no anchor, from other sources."""


def context_of(context: ChainContext, curve: str, platform: Address) -> ChainContext:
    """Return the context of a chain whose one platform is this contract."""
    facts = msgspec.structs.replace(context.chain, launchpads=(pad_of(curve, platform),))
    return with_chain(context, facts)


def put(chain: Chain, portal: Address, token: Address, quote: Address, paid: int) -> None:
    """The token is on flap's curve, and so much was paid in."""
    sold, for_pool = 300 * 10**6 * ETHER, 800 * 10**6 * ETHER
    receipt = chain.send(
        chain.world.owner,
        portal,
        "put(address,uint8,uint256,uint256,uint256,address)",
        *(token, 1, paid, sold, for_pool, quote),
    )
    assert receipt.success


def curves_of(report: Report) -> list[PoolResultRow]:
    assert report.pools is not None
    return [pool for pool in report.pools if pool.is_launchpad]


async def judge_with_market(
    chain: Chain, context: ChainContext, token: Address, quote: Address, *, depth_eth: float
) -> Report:
    """Others see one market of the quote token, against the wrapped native coin."""
    async with running_market_data() as (service, outside):
        weth = chain.world.venues.wrapped_native.address
        pair = dexscreener_pair("0x1", quote, weth, depth=depth_eth, usd=str(TOKEN_USD))
        service.says([pair] if depth_eth else [])
        return await judge(context_with(context, outside=outside), token)


@pytest.mark.parametrize("kind", ["native", "wrapped", "stable", "token"])
async def test_a_curve_is_worth_its_quote_coin(
    chain: Chain, context: ChainContext, kind: str
) -> None:
    venues, token = chain.world.venues, chain.deploy("HonestToken", "On Curve", "CURVE")
    quote, paid, expected = {
        "native": (ZERO_ADDRESS, 3 * ETHER, 2 * 3 * NATIVE_USD),
        "wrapped": (venues.wrapped_native.address, 3 * ETHER, 2 * 3 * NATIVE_USD),
        "stable": (venues.stables[0].address, 1_000 * 10**6, 2 * 1_000),
        "token": (chain.world.token("mintable").address, 1_000 * ETHER, 2 * 1_000 * TOKEN_USD),
    }[kind]
    portal = chain.deploy("Portal")
    put(chain, portal, token, quote, paid)
    report = await judge_with_market(
        chain, context_of(context, "curve_b", portal), token, quote, depth_eth=100
    )
    assert report.token.is_launchpad_token is True
    (curve,) = curves_of(report)
    assert (curve.kind, curve.pool, curve.quote) == ("curve_b", portal, quote)
    assert curve.liquidity_usd == pytest.approx(expected)
    assert curve.quote_side_usd == pytest.approx(expected / 2)

    features = render_native(report, clock=None, liquid_above_usd=100.0)
    (shown_pool,) = features.dex
    assert (shown_pool.liquidity_type, shown_pool.is_launchpad) == ("curve_b", True)
    assert shown_pool.liquidity == pytest.approx(expected)
    assert (shown_pool.buy_success, shown_pool.sell_success) == (None, None)
    assert (shown_pool.buy_tax, shown_pool.sell_tax, shown_pool.error_code) == (None, None, None)
    assert (features.cannot_buy, features.is_liquid) == (None, True)


async def test_virtuals_is_worth_what_was_paid_in_of_its_quote_token(
    chain: Chain, context: ChainContext
) -> None:
    token, quote = chain.deploy("HonestToken", "Agent", "AGENT"), chain.world.token("mintable")
    bonding = chain.deploy("Bonding")
    sender = chain.world.owner
    assert chain.send(sender, bonding, "launch(address,address)", token, quote.address).success
    assert chain.send(sender, bonding, "setStage(address,bool,bool)", token, True, False).success
    with_virtuals = context_of(context, "curve_d", bonding)
    (fresh,) = curves_of(
        await judge_with_market(chain, with_virtuals, token, quote.address, depth_eth=100)
    )
    # Its price rests on thousands of coins that nobody paid.
    assert (fresh.liquidity_usd, fresh.error_code) == (0, "liquidity_too_low")
    assert chain.send(
        sender, fresh.pool, "put(uint256,uint256)", 700 * 10**6 * ETHER, 1_500 * ETHER
    ).success
    (curve,) = curves_of(
        await judge_with_market(chain, with_virtuals, token, quote.address, depth_eth=100)
    )
    assert (curve.kind, curve.pool) == ("curve_d", fresh.pool)
    assert curve.liquidity_usd == pytest.approx(2 * 1_500 * TOKEN_USD)


@pytest.mark.parametrize("depth_eth", [0, 1], ids=["nobody tells a price", "a shallow market"])
async def test_a_curve_whose_quote_coin_has_no_price_is_left_out(
    chain: Chain, context: ChainContext, depth_eth: float
) -> None:
    token, quote = chain.deploy("HonestToken", "On Curve", "CURVE"), chain.world.token("mintable")
    portal = chain.deploy("Portal")
    put(chain, portal, token, quote.address, 1_000 * ETHER)
    report = await judge_with_market(
        chain, context_of(context, "curve_b", portal), token, quote.address, depth_eth=depth_eth
    )
    assert report.pools == ()
    assert report.token.is_launchpad_token is True


@pytest.mark.parametrize(("paid_eth", "place"), [(1_000, 0), (1, 1)])
async def test_a_curve_stands_among_the_pools_by_its_depth(
    chain: Chain, context: ChainContext, paid_eth: int, place: int
) -> None:
    token, portal = chain.world.token("honest").address, chain.deploy("Portal")
    put(chain, portal, token, ZERO_ADDRESS, paid_eth * ETHER)
    report = await judge(context_of(context, "curve_b", portal), token)
    assert report.pools is not None
    assert [pool.kind for pool in report.pools].index("curve_b") == place
    assert [pool.ordinal for pool in report.pools] == list(range(len(report.pools)))
    depths = [pool.liquidity_usd for pool in report.pools]
    assert depths == sorted(depths, reverse=True)
    assert {pool.is_launchpad for pool in report.pools if pool.kind != "curve_b"} == {None}
