"""Pools of every family that the demo does not deploy.

Predicted trades equal real ones, the follower reads the pools, and they are worth their contracts'
balances.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import NATIVE_USD
from core.evm.primitives import Hash32
from core.report.report import PoolResultRow
from core.report.rows import PoolRow
from tests.harness.chain.contexts import context_with, judge, with_dexes
from tests.harness.chain.transactions import Chain
from tests.harness.node.faults import LogLimitedNode
from tests.harness.venues import (
    balancer,
    balancer_v3,
    curve,
    dodo,
    further_venues,
    infinity,
    infinity_bin,
    liquidity_book,
    solidly_v3,
)
from tests.harness.venues.curve import QUOTE_FIRST, THIRD_FIRST, TOKEN_FIRST
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market

Options = Mapping[str, Any]
"""Arguments of a family's `place`."""

MARKETS: Mapping[str, Callable[..., Market]] = {
    "balancer": balancer.place,
    "balancer_v3": balancer_v3.place,
    "curve": curve.place,
    "dodo": dodo.place,
    "infinity": infinity.place,
    "infinity_bin": infinity_bin.place,
    "liquidity_book": liquidity_book.place,
    "solidly_v3": solidly_v3.place,
}
INDEXED = frozenset({"balancer", "balancer_v3"})
"""Families whose pools only the index finds."""

HONEST, BLOCKED = "HonestToken", "SellBlockedToken"
TAXED = ("TransferTaxToken", "BuyTaxToken", "SellTaxToken")
ORDINARY = (HONEST, *TAXED, BLOCKED)


def market_context(
    family: str, chain: Chain, context: ChainContext, market: Market
) -> ChainContext:
    """The context that knows the market's exchange, and its pool where an index is needed."""
    if family in INDEXED:
        return balancer.indexed(chain, context, market)
    return with_dexes(context, (market.dex,))


async def read_pool(context: ChainContext, market: Market) -> PoolResultRow:
    report = await judge(context, market.token)
    assert report.pools is not None
    (row,) = report.pools
    return row


def rows(
    family: str, cases: Sequence[tuple[str, Options]], refused: Sequence[int] | None = None
) -> list[Any]:
    """Make parameters: family, contract, options and the expected sale.

    `refused`: numbers of the cases whose sale is refused; None: only compared with the real sale.
    """
    found = []
    for number, (contract, options) in enumerate(cases):
        sale = None if refused is None else "refused" if number in refused else "passed"
        label = "-".join([family, contract, *(f"{key}={value}" for key, value in options.items())])
        found.append(pytest.param(family, contract, options, sale, id=label))
    return found


def vault_cases(**extra: object) -> list[tuple[str, Options]]:
    """Tokens that block the vault, and the honest double: nothing is ever sent to the pool."""
    return [
        (HONEST, {"size": 2, **extra}),
        ("TransferTaxToken", {"size": 3, **extra}),
        ("BuyTaxToken", {"size": 2, **extra}),
        ("SellTaxToken", {"size": 3, **extra}),
        (BLOCKED, {"size": 2, **extra}),
        (BLOCKED, {"size": 3, "blocks": "pool", **extra}),
    ]


def curve_case(contract: str, kind: str, order: object, *, measures: bool) -> tuple[str, Options]:
    return contract, {"kind": f"Curve{kind}", "order": order, "measures": measures}


FORETOLD = [
    *rows("balancer", vault_cases(is_own=False), refused=[4]),
    *rows("balancer", vault_cases(is_own=True), refused=[4]),
    # The vault does not lock again where less arrives than was ordered, so a tax refuses sales.
    *rows("balancer_v3", vault_cases(), refused=[1, 3, 4]),
    *rows(
        "curve",
        [
            curve_case(HONEST, "Stable", TOKEN_FIRST, measures=True),
            curve_case(HONEST, "Crypto", TOKEN_FIRST, measures=True),
            curve_case(HONEST, "Stable", THIRD_FIRST, measures=False),
            curve_case("TransferTaxToken", "Stable", QUOTE_FIRST, measures=True),
            curve_case("TransferTaxToken", "Crypto", QUOTE_FIRST, measures=False),
            curve_case("BuyTaxToken", "Stable", THIRD_FIRST, measures=True),
            curve_case("SellTaxToken", "Stable", TOKEN_FIRST, measures=False),
            curve_case("SellTaxToken", "Crypto", QUOTE_FIRST, measures=True),
            curve_case(BLOCKED, "Stable", THIRD_FIRST, measures=True),
            curve_case(BLOCKED, "Crypto", TOKEN_FIRST, measures=False),
        ],
    ),
    *rows("dodo", [(one, {"is_base": True}) for one in ORDINARY], refused=[4]),
    *rows("dodo", [(one, {"is_base": False}) for one in ORDINARY], refused=[4]),
    *rows(
        "infinity",
        [
            (HONEST, {"is_coin": False}),
            (HONEST, {"is_coin": True}),
            ("TransferTaxToken", {"is_coin": True}),
            ("BuyTaxToken", {"is_coin": True}),
            ("SellTaxToken", {"is_coin": False}),
            (BLOCKED, {"is_coin": False}),
            (BLOCKED, {"is_coin": True}),
            # The honest double: nothing is ever sent to the manager.
            (BLOCKED, {"is_coin": True, "blocks": "manager"}),
        ],
    ),
    *rows(
        "infinity_bin",
        [
            (HONEST, {"is_coin": False}),
            (HONEST, {"is_coin": True}),
            ("TransferTaxToken", {"is_coin": True}),
            ("BuyTaxToken", {"is_coin": False}),
            ("SellTaxToken", {"is_coin": True}),
            (BLOCKED, {"is_coin": False}),
            (BLOCKED, {"is_coin": True, "blocks": "manager"}),
        ],
    ),
    *rows("liquidity_book", [(one, {"is_x": True}) for one in ORDINARY]),
    *rows("liquidity_book", [(one, {"is_x": False}) for one in ORDINARY]),
    *rows("solidly_v3", [(one, {}) for one in ORDINARY]),
    # A pool that opens with tokens only.
    *rows("infinity_bin", [(HONEST, {"quote_raw": 0})]),
]


@pytest.mark.parametrize(("family", "contract", "options", "sale"), FORETOLD)
async def test_the_prediction_is_what_then_happens(
    chain: Chain,
    context: ChainContext,
    family: str,
    contract: str,
    options: Options,
    sale: str | None,
) -> None:
    market = MARKETS[family](chain, contract, **options)
    known = market_context(family, chain, context, market)
    row = await further_venues.assert_foretold(chain, known, market)
    assert sale in (None, row.sell)


@pytest.mark.parametrize(
    ("family", "options", "sale"),
    [
        ("curve", {"kind": "CurveCrypto"}, "passed"),
        ("curve", {"kind": "CurveStable"}, "passed"),
        ("dodo", {}, "passed"),
        ("liquidity_book", {}, None),
        ("solidly_v3", {}, None),
    ],
)
async def test_a_token_that_blocks_another_pool_is_sold_here(
    chain: Chain, context: ChainContext, family: str, options: Options, sale: str | None
) -> None:
    """The honest double: it refuses transfers to a pair of another exchange."""
    elsewhere = chain.world.token("honest").pool.address
    market = MARKETS[family](chain, BLOCKED, pair=elsewhere, **options)
    known = market_context(family, chain, context, market)
    row = await further_venues.assert_foretold(chain, known, market)
    assert sale in (None, row.sell)


def other_id(market: Market, row: PoolRow) -> PoolRow:
    return msgspec.structs.replace(row, pool_id=Hash32(market.key[:42] + "5e" * 12))


def other_pool(market: Market, row: PoolRow) -> PoolRow:
    return msgspec.structs.replace(row, pool=market.dex.factory, pool_key=market.dex.factory)


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("balancer", {"size": 2, "is_own": False}),
        ("balancer", {"size": 3, "is_own": False}),
        ("balancer", {"size": 2, "is_own": True}),
        ("balancer", {"size": 3, "is_own": True}),
        ("balancer_v3", {"size": 2}),
        ("balancer_v3", {"size": 3}),
        ("curve", {"kind": "CurveStable", "order": TOKEN_FIRST}),
        ("curve", {"kind": "CurveStable", "order": THIRD_FIRST}),
        ("curve", {"kind": "CurveCrypto", "order": QUOTE_FIRST}),
        ("dodo", {"is_base": True}),
        ("dodo", {"is_base": False}),
        ("liquidity_book", {"is_x": True}),
        ("liquidity_book", {"is_x": False}),
        ("solidly_v3", {}),
    ],
)
async def test_the_follower_reads_the_pool_and_its_trades(
    chain: Chain, context: ChainContext, family: str, options: Options
) -> None:
    """Followed data suffice for trades, except in a pool that the factory does not know."""
    market = MARKETS[family](chain, HONEST, **options)
    row = further_venues.assert_followed(chain, market)
    known = with_dexes(context, (market.dex,))
    match family:
        case "balancer" | "balancer_v3":
            assert (row.pool, row.pool_id) == (market.dex.factory, market.key)
        case "liquidity_book":
            expected = (options["is_x"], liquidity_book.STEP)
            assert (row.token0 == market.token, row.tick_spacing) == expected
        case "solidly_v3":
            assert (row.tick_spacing, row.variant) == (solidly_v3.SPACING, "solidly_v3")
    if family in ("curve", "dodo", "liquidity_book"):
        pool = await read_pool(context_with(known, rows=[row]), market)
        assert (pool.pool, pool.pool_id) == (row.pool, row.pool_id)
        assert (pool.buy, pool.sell) == ("passed", "passed")
        assert market.key in (pool.pool, pool.pool_id)
    strangers = {"balancer": other_id, "balancer_v3": other_id, "curve": other_pool}
    stranger = (strangers | {"dodo": other_pool}).get(family)
    if stranger is not None:
        report = await judge(context_with(known, rows=[stranger(market, row)]), market.token)
        assert not report.pools


@pytest.mark.parametrize("hook", [None, "open"])
@pytest.mark.parametrize(
    ("family", "spacing"), [("infinity", infinity.SPACING), ("infinity_bin", infinity_bin.STEP)]
)
async def test_what_the_follower_reads_is_enough_without_logs(
    chain: Chain, context: ChainContext, family: str, spacing: int, hook: str | None
) -> None:
    """A pool with ticks is then worth at least the liquidity around the price, and traded by its
    id."""
    market = MARKETS[family](chain, hook=hook)
    row = further_venues.assert_followed(chain, market)
    assert (row.fee, row.tick_spacing, row.hooks is None) == (2_500, spacing, hook is None)
    if family == "infinity":
        settings = msgspec.structs.replace(context.settings, min_liquidity_usd=1e-3)
        context = msgspec.structs.replace(context, settings=settings)
    known = with_dexes(context, (market.dex,))
    pool = await read_pool(context_with(known, rows=[row], node=LogLimitedNode(known.node)), market)
    assert (pool.buy, pool.sell) == ("passed", "passed")
    if family == "infinity":
        held_usd = chain.balance(market.quote, market.holder) / 1e18 * NATIVE_USD
        assert pool.quote_side_usd is not None
        assert 0 < pool.quote_side_usd < held_usd / 100


PRICE_USD = QUOTE_RAW / TOKEN_RAW * NATIVE_USD
STABLE_PRICE_USD = NATIVE_USD
"""Price in a pool with as many tokens as coins."""


@pytest.mark.parametrize(
    ("family", "options", "price_usd", "precision"),
    [
        ("balancer", {"size": 2, "is_own": False}, PRICE_USD, 0.002),
        ("balancer", {"size": 3, "is_own": False}, PRICE_USD, 0.002),
        ("balancer", {"size": 3, "is_own": True}, PRICE_USD, 0.002),
        ("balancer_v3", {"size": 2}, PRICE_USD, 0.002),
        ("balancer_v3", {"size": 3}, PRICE_USD, 0.002),
        ("curve", {"kind": "CurveStable", "order": THIRD_FIRST}, STABLE_PRICE_USD, 0.002),
        ("curve", {"kind": "CurveCrypto", "order": TOKEN_FIRST}, PRICE_USD, 0.002),
        ("dodo", {"is_base": True}, PRICE_USD, 1e-6),
        ("dodo", {"is_base": False}, PRICE_USD, 1e-6),
        ("infinity_bin", {"is_coin": False}, PRICE_USD, infinity_bin.STEP / 10_000),
        ("infinity_bin", {"is_coin": True}, PRICE_USD, infinity_bin.STEP / 10_000),
        ("liquidity_book", {"is_x": True}, PRICE_USD, liquidity_book.STEP / 10_000),
        ("liquidity_book", {"is_x": False}, PRICE_USD, liquidity_book.STEP / 10_000),
    ],
)
async def test_the_pool_is_worth_what_was_put_into_it(
    chain: Chain,
    context: ChainContext,
    family: str,
    options: Options,
    price_usd: float,
    precision: float,
) -> None:
    market = MARKETS[family](chain, **options)
    row = await read_pool(market_context(family, chain, context, market), market)
    held_raw = QUOTE_RAW
    if family == "liquidity_book":
        held_raw = chain.balance(market.quote, market.holder)
    assert row.quote_side_usd == pytest.approx(held_raw / 1e18 * NATIVE_USD)
    assert row.token_usd == pytest.approx(price_usd, rel=precision)


@pytest.mark.parametrize(("family", "precision"), [("infinity", 1e-3), ("solidly_v3", 1e-6)])
async def test_a_pool_with_ticks_is_worth_what_its_contract_holds(
    chain: Chain, context: ChainContext, family: str, precision: float
) -> None:
    market = MARKETS[family](chain, HONEST)
    row = await read_pool(with_dexes(context, (market.dex,)), market)
    held_raw = chain.balance(market.quote, market.holder)
    assert row.quote_side_usd == pytest.approx(held_raw / 1e18 * NATIVE_USD, rel=precision)


@pytest.mark.parametrize(("hook", "sale"), [("closed", "refused"), ("open", "passed")])
@pytest.mark.parametrize("family", ["infinity", "infinity_bin"])
async def test_a_hook_decides_about_sales(
    chain: Chain, context: ChainContext, family: str, hook: str, sale: str
) -> None:
    market = MARKETS[family](chain, hook=hook, is_coin=True)
    known = with_dexes(context, (market.dex,))
    row = await further_venues.assert_foretold(chain, known, market)
    assert row.sell == sale


@pytest.mark.parametrize(
    ("family", "options"),
    [("liquidity_book", {}), ("infinity_bin", {"bins": 8}), ("infinity_bin", {"bins": 20})],
)
async def test_bins_that_end_are_not_the_tokens_fault(
    chain: Chain, context: ChainContext, family: str, options: Options
) -> None:
    """The real trade fails too, as the bins hold too few tokens. That is no refusal, also where
    the gas of the way through all bins is not enough."""
    market = MARKETS[family](chain, token_raw=10**15, **options)
    row = await read_pool(with_dexes(context, (market.dex,)), market)
    assert not further_venues.buy(chain, market, chain.fresh_account()).success
    assert (row.buy, row.sell) == (None, None)
    assert row.error_code == "missing_swap_parameters"
