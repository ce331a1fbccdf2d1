"""A pool is traded through its venue's router where that is proven, else through ours."""

import msgspec
import pytest
from eth_abi.abi import decode, encode

from analysis import probes
from analysis.market import routers
from analysis.market.routers import RouterFacts, RouterReads
from analysis.market.venues.families import solidly, uniswap_v2
from analysis.market.venues.families.concentrated_venue import (
    FORMS_BY_FEE,
    FORMS_BY_PAIR,
    FORMS_BY_SPACING,
)
from analysis.market.venues.pool import Candidate
from analysis.market.venues.swaps import concentrated_swap, probe_router, uniswap_v4_swap
from analysis.market.venues.trade_route import (
    FOREVER_S,
    Moved,
    RouterForm,
    Swap,
    TradeRoute,
    find_forms,
)
from analysis.market.venues.venue_registry import ROUTER_FORMS, venue_of
from analysis.reads.read_batch import ReadBatch
from analysis.simulation.simulate_v1 import SimLog
from assay.demo.compile import load_artifacts
from config.facts.chain import Dex
from config.facts.pool_family import DexKind
from core.evm.abi import call_data, selector_of, topic_of
from core.evm.keccak import keccak
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32, RawAmount
from tests.harness.node.answers import BLOCK, address, answer_in_turn, sent

pytestmark = pytest.mark.compiler

FACTORY, ROUTER, FREE, OTHER = (Address("0x" + digit * 40) for digit in "1234")
TOKEN, QUOTE, POOL, TRADER, HOOKS = (Address("0x" + digit * 40) for digit in "56789")

SPOKEN = {
    "UniswapV2Router02": uniswap_v2.FORMS[:1],
    "SolidRouter": solidly.FORMS[:1],
    "SwapRouter": FORMS_BY_FEE[:1],
    "PancakeRouter": FORMS_BY_FEE[:1],
    "SlipstreamRouter": FORMS_BY_SPACING[:1],
    "AlgebraSwapRouter": (FORMS_BY_PAIR[0], FORMS_BY_PAIR[2]),
}


def candidate(kind: DexKind = "AmmV2", **facts: object) -> Candidate:
    dex = {"variant": facts.pop("variant", None), "fee_bp": facts.pop("fee_bp", None)}
    venue = Dex(name="D", kind=kind, factory=FACTORY, router=ROUTER, **dex)  # type: ignore[arg-type]
    return Candidate(dex=venue, pool=POOL, token=TOKEN, quote=QUOTE, **facts)  # type: ignore[arg-type]


def found(*forms: RouterForm, factory: Address | None = FACTORY) -> RouterFacts:
    return RouterFacts(has_code=True, factory=factory, forms=forms)


def way_of(pool: Candidate, facts: RouterFacts | None) -> TradeRoute:
    way = routers.find_route(pool, facts, free=FREE)
    assert isinstance(way, TradeRoute)
    return way


def sale(pool: Candidate, amount_in: int = 7) -> Swap:
    return Swap(
        candidate=pool,
        router=ROUTER,
        trader=TRADER,
        token_in=pool.token,
        token_out=pool.quote,
        amount_in=RawAmount(amount_in),
    )


@pytest.mark.parametrize("name", SPOKEN)
def test_the_forms_of_routers_are_found_in_their_code(name: str) -> None:
    code = bytes.fromhex(load_artifacts()[name].creation)
    assert find_forms(code, ROUTER_FORMS) == SPOKEN[name]


@pytest.mark.parametrize(
    ("pool", "form"),
    [
        (candidate(), uniswap_v2.FORMS[0]),
        (candidate(), uniswap_v2.FORMS[1]),
        (candidate("Solid", stable=True), solidly.FORMS[0]),
        (candidate("Solid", stable=False), solidly.FORMS[1]),
        (candidate("AmmV3", fee=3_000), FORMS_BY_FEE[0]),
        (candidate("AmmV3", fee=3_000), FORMS_BY_FEE[1]),
        (candidate("AmmV3", variant="ramses_v3", tick_spacing=50), FORMS_BY_SPACING[0]),
        (candidate("SolidV3", tick_spacing=200), FORMS_BY_SPACING[1]),
        (candidate("AmmV3", variant="algebra"), FORMS_BY_PAIR[1]),
        (candidate("AmmV3", variant="algebra_integral"), FORMS_BY_PAIR[2]),
    ],
)
def test_a_proven_router_is_used_in_the_form_it_speaks(pool: Candidate, form: RouterForm) -> None:
    way = way_of(pool, found(form))
    assert (way.router, way.code) == (ROUTER, None)
    assert way.swap_data(sale(pool)) == form.data(sale(pool))
    assert (way.quote_data is not None) == (form.quote is not None)


@pytest.mark.parametrize(
    "facts",
    [
        None,
        RouterFacts(has_code=False, factory=None, forms=()),
        found(),
        found(*FORMS_BY_FEE, factory=OTHER),
        found(*FORMS_BY_FEE, factory=None),
        found(*FORMS_BY_SPACING),
    ],
)
def test_no_proven_router_means_ours(facts: RouterFacts | None) -> None:
    way = way_of(candidate("AmmV3", fee=3_000), facts)
    assert (way.router, way.code) == (FREE, probes.runtime("StageRouter"))


def test_a_pairs_router_may_keep_its_factory_to_itself() -> None:
    way = way_of(candidate(), found(*uniswap_v2.FORMS, factory=None))
    assert way.router == ROUTER
    assert way.must_quote


@pytest.mark.parametrize(("form", "router"), [(solidly.FORMS[0], FREE), (solidly.FORMS[1], ROUTER)])
def test_a_solidly_router_may_too_if_its_path_names_it(form: RouterForm, router: Address) -> None:
    assert way_of(candidate("Solid", stable=False), found(form, factory=None)).router == router


def test_the_known_fee_is_tried_first_and_then_only_higher_ones() -> None:
    way = probe_router.pair_way(FREE, fee_bp=100)
    data = bytes.fromhex(way.swap_data(sale(candidate()))[2:])
    *_, fees = decode(["address", "address", "uint256", "uint256[]"], data[4:])
    assert fees == (100, 300, 1_000)


WRAPPED = Address("0x" + "c0" * 20)


def router_code(form: RouterForm, name: str, *, wrapped: Address = WRAPPED) -> bytes:
    """Build the code of a router that has this form, and trades for the coin of this name."""
    (coins,) = (
        one
        for one in form.coins
        if selector_of(f"swapExact{name}ForTokens{TAXED}(uint256,address[],address,uint256)")
        in one.selectors
    )
    return b"".join((form.selector, *coins.selector_bytes, bytes.fromhex(wrapped[2:])))


TAXED = "SupportingFeeOnTransferTokens"


def read_router(code: bytes) -> RouterFacts:
    batch = ReadBatch(BLOCK)
    router = RouterReads(batch, FACTORY)
    answer_in_turn(batch, [sent(code), address(FACTORY)])
    return router.read(wrapped=WRAPPED)


@pytest.mark.parametrize("name", ["ETH", "AVAX"])
def test_coins_are_paid_by_the_name_that_the_router_gives_them(name: str) -> None:
    facts = read_router(router_code(uniswap_v2.FORMS[0], name))
    pool = msgspec.structs.replace(candidate(), quote=WRAPPED)
    way = routers.find_route(pool, facts, free=FREE, wrapped=WRAPPED)
    assert isinstance(way, TradeRoute)
    assert way.coin_buy_data is not None
    assert way.coin_sell_data is not None
    buy = msgspec.structs.replace(sale(pool), token_in=WRAPPED, token_out=TOKEN)
    types = "(uint256,address[],address,uint256)"
    assert way.coin_buy_data(buy)[:10] == selector_of(f"swapExact{name}ForTokens{TAXED}{types}")
    types = "(uint256,uint256,address[],address,uint256)"
    data = way.coin_sell_data(sale(pool))
    assert data[:10] == selector_of(f"swapExactTokensFor{name}{TAXED}{types}")


def test_a_router_of_another_wrapped_coin_pays_none() -> None:
    facts = read_router(router_code(uniswap_v2.FORMS[0], "ETH", wrapped=OTHER))
    assert facts.coins == ()
    pool = msgspec.structs.replace(candidate(), quote=WRAPPED)
    way = routers.find_route(pool, facts, free=FREE, wrapped=WRAPPED)
    assert isinstance(way, TradeRoute)
    assert way.router == ROUTER
    assert (way.coin_buy_data, way.coin_sell_data, way.read_coins) == (None, None, None)


@pytest.mark.parametrize("facts", [None, read_router(router_code(uniswap_v2.FORMS[0], "ETH"))])
def test_pools_of_other_tokens_know_no_coins(facts: RouterFacts | None) -> None:
    way = routers.find_route(candidate(), facts, free=FREE, wrapped=WRAPPED)
    assert isinstance(way, TradeRoute)
    assert (way.coin_buy_data, way.coin_sell_data) == (None, None)


def test_who_sells_through_permit2_allows_it_everything() -> None:
    way = probe_router.pair_way(ROUTER, fee_bp=30, permit2=OTHER)
    assert way.approvals(TOKEN, 5) == (
        (TOKEN, call_data("approve(address,uint256)", OTHER, 2**256 - 1)),
        (
            OTHER,
            call_data("approve(address,address,uint160,uint48)", *(TOKEN, ROUTER, 5, FOREVER_S)),
        ),
    )
    assert probe_router.pair_way(ROUTER, fee_bp=30).approvals(TOKEN, 5) == (
        (TOKEN, call_data("approve(address,uint256)", ROUTER, 5)),
    )


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        (candidate("AmmV4", variant="infinity_2", fee=1, tick_spacing=1), "not known"),
        (candidate("AmmV4", fee=1, tick_spacing=1, pool_id=Hash32("0x" + "0" * 64)), "key"),
        (candidate("AmmV4", tick_spacing=1, pool_id=Hash32("0x" + "0" * 64)), "key"),
    ],
)
def test_what_cannot_be_traded_says_why(pool: Candidate, reason: str) -> None:
    why = routers.find_route(pool, None, free=FREE)
    assert isinstance(why, str)
    assert reason in why


def test_pools_that_pull_by_themselves_are_called_and_approved() -> None:
    pool = candidate("AmmV3", variant="solidly_v3", tick_spacing=50)
    way = routers.find_route(pool, None, free=FREE)
    assert isinstance(way, TradeRoute)
    assert way.approvals(TOKEN, 5) == (
        (TOKEN, call_data("approve(address,uint256)", pool.pool, 5)),
    )
    assert (way.code, way.books_orders) == (None, True)
    through = venue_of(pool.dex).route(pool, ROUTER, wrapped=None, permit2=OTHER)
    assert isinstance(through, str)


def v4_pool(quote: Address = QUOTE) -> Candidate:
    first, second = sorted((TOKEN, quote))
    key = (first, second, 3_000, 60, HOOKS)
    digest = keccak(encode(["address", "address", "uint24", "int24", "address"], key))
    bare = candidate("AmmV4", fee=3_000, tick_spacing=60, hooks=HOOKS)
    return Candidate(
        **{name: getattr(bare, name) for name in ("dex", "token", "fee", "tick_spacing", "hooks")},
        pool=FACTORY,
        quote=quote,
        pool_id=Hash32("0x" + digest.hex()),
    )


def test_on_v4_ours_takes_the_place_of_the_venues_router() -> None:
    pool = v4_pool(ZERO_ADDRESS)
    assert uniswap_v4_swap.pool_key(pool) == (ZERO_ADDRESS, TOKEN, 3_000, 60, HOOKS)
    assert way_of(pool, None).router == FREE
    way = way_of(pool, found(factory=None))
    assert (way.router, way.code) == (ROUTER, probes.runtime("StageRouter"))
    assert way.is_hooked


def v4_swapped(by: Address, amounts: tuple[int, int], fee: int) -> SimLog:
    types = ["int128", "int128", "uint160", "uint128", "int24", "uint24"]
    return SimLog(
        address=FACTORY,
        topics=(
            topic_of("Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)"),
            v4_pool().pool_id or Hash32(""),
            Hash32("0x" + by[2:].rjust(64, "0")),
        ),
        data="0x" + encode(types, [*amounts, 1, 1, 0, fee]).hex(),
    )


def test_a_v4_swap_is_the_routers_own_and_not_its_hooks() -> None:
    logs = (v4_swapped(ROUTER, (-1_000, 900), 3_000), v4_swapped(HOOKS, (5, -5), 3_000))
    moved = uniswap_v4_swap.read_moved(v4_pool(), logs, token_in_is_0=True, router=ROUTER)
    assert moved == Moved(received=RawAmount(1_000), sent=RawAmount(900), fee_share=0.003)
    assert (
        uniswap_v4_swap.read_moved(v4_pool(), logs[1:], token_in_is_0=True, router=ROUTER) is None
    )


@pytest.mark.parametrize(
    ("rest", "values"), [("", ()), (",uint128,uint128", (1, 1)), (",uint24,uint24", (1, 1))]
)
def test_every_v3_forks_event_is_read(rest: str, values: tuple[int, ...]) -> None:
    event = f"Swap(address,address,int256,int256,uint160,uint128,int24{rest})"
    types = ["int256", "int256", "uint160", "uint128", "int24", *rest.split(",")[1:]]
    log = SimLog(
        address=POOL,
        topics=(topic_of(event),),
        data="0x" + encode(types, [-900, 1_000, 1, 1, 0, *values]).hex(),
    )
    moved = concentrated_swap.read_moved(candidate("AmmV3"), (log,), token_in_is_0=False)
    assert moved == Moved(received=RawAmount(1_000), sent=RawAmount(900))


@pytest.mark.parametrize(
    ("variant", "function"),
    [
        (None, "swap(address,bool,int256,uint160,bytes)"),
        ("pancake_v3", "swap(address,bool,int256,uint160,bytes)"),
        (
            "algebra_integral",
            "swapWithPaymentInAdvance(address,address,bool,int256,uint160,bytes)",
        ),
        ("algebra", "swapSupportingFeeOnInputTokens(address,address,bool,int256,uint160,bytes)"),
    ],
)
def test_pools_are_called_by_what_their_family_has(variant: str | None, function: str) -> None:
    pool = candidate("AmmV3", variant=variant)
    data = bytes.fromhex(way_of(pool, None).swap_data(sale(pool))[2:])
    _, _, call, _ = decode(["address", "address", "bytes", "(address,address)"], data[4:])
    arguments = (TRADER, True, 7, 4_295_128_740, b"")
    named = (TRADER, *arguments) if "address,address" in function else arguments
    assert "0x" + call.hex() == call_data(function, *named)
