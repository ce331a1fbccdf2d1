"""From pools found to pools valued, ranked and ready to be traded on stage. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import msgspec

from analysis.discovery import Candidate
from analysis.liquidity import PoolValue, Price, value_pool
from analysis.stage import NotRun, Outcome, Passed, Refused
from config.primitives import Address, RawAmount
from sql.rows import PoolResultRow, TradeOutcome

TRADED_KINDS = frozenset({"AmmV2", "AmmV3", "AmmV4", "Solid", "SolidV3"})
"""Kinds whose trades can be played."""


class PoolState(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a pool holds at the pinned block."""

    token_reserve_raw: RawAmount
    quote_reserve_raw: RawAmount
    in_range_liquidity: int | None
    """Concentrated-liquidity kinds only: 0 means no trade is possible at the current price."""
    is_floor: bool = False
    """AmmV4: the reserves are what the pool holds at least; its positions were not added up."""
    is_swept: bool = False
    """One of very many of its token, most of them empty: only the deepest were added up."""
    price: float | None = None
    """Spot price before fees: smallest units of quote for one of token. None: not known."""


def spot_price(root: float, *, token_is_0: bool) -> float | None:
    """Quote for one of token, in smallest units, by the square root of token1 for one of token0."""
    if not root:
        return None
    return root * root if token_is_0 else 1 / (root * root)


class ValuedPool(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A pool with its worth."""

    candidate: Candidate
    state: PoolState
    value: PoolValue
    token_usd: float | None = None
    """USD of one whole token at the spot price. None: the price or the other side's is unknown."""


class TradeResult(msgspec.Struct, frozen=True, kw_only=True):
    """Both simulated sides of one pool."""

    buy: Outcome
    sell: Outcome


PENDING = "pending"
"""Stands in for a TradeResult while the plays are still running."""


def rank_pools(
    states: Iterable[tuple[Candidate, PoolState | None]],
    prices: Mapping[Address, Price],
    *,
    decimals: int,
) -> tuple[ValuedPool, ...]:
    """Pools with a priced side, deepest first. Unreadable and unpriced pools are left out.

    `decimals` are the token's.
    """
    valued = []
    for candidate, state in states:
        if state is None:
            continue
        value = value_pool(
            token=candidate.token,
            quote=candidate.quote,
            token_reserve_raw=state.token_reserve_raw,
            quote_reserve_raw=state.quote_reserve_raw,
            prices=prices,
        )
        if value is not None:
            usd = _token_usd(candidate, state, prices, decimals=decimals)
            valued.append(ValuedPool(candidate=candidate, state=state, value=value, token_usd=usd))
    return by_depth(valued)


def by_depth(pools: Iterable[ValuedPool]) -> tuple[ValuedPool, ...]:
    """Deepest first."""
    return tuple(sorted(pools, key=lambda pool: (-pool.value.liquidity_usd, pool.candidate.key)))


def _token_usd(
    candidate: Candidate, state: PoolState, prices: Mapping[Address, Price], *, decimals: int
) -> float | None:
    quote = prices.get(candidate.quote)
    if quote is None or state.price is None:
        return None
    return state.price * 10.0 ** (decimals - quote.decimals) * quote.usd


def without_doubtful(
    pools: Sequence[ValuedPool], *, min_liquidity_usd: float
) -> tuple[ValuedPool, ...]:
    """The pools but those that only seem to be shallow, as the node did not tell what they hold."""
    return tuple(
        pool
        for pool in pools
        if not pool.state.is_floor
        or pool.state.is_swept
        or pool.value.liquidity_usd > min_liquidity_usd
    )


def pick_traded(
    pools: Sequence[ValuedPool], *, at_most: int, min_liquidity_usd: float
) -> tuple[ValuedPool, ...]:
    """The deepest pools whose trades are worth playing."""
    fit = (
        pool
        for pool in pools
        if pool.candidate.dex.kind in TRADED_KINDS
        and refusal_before_play(pool, min_liquidity_usd=min_liquidity_usd) is None
    )
    return tuple(pool for pool, _ in zip(fit, range(at_most), strict=False))


def refusal_before_play(pool: ValuedPool, *, min_liquidity_usd: float) -> tuple[str, str] | None:
    """Error code and message of a pool that no simulation is tried on. None: one may be."""
    if not pool.value.liquidity_usd > min_liquidity_usd:
        return _too_low(min_liquidity_usd)
    if pool.state.in_range_liquidity == 0:
        return "no_in_range_liquidity", "no liquidity at the current price"
    return None


@cache
def _too_low(min_liquidity_usd: float) -> tuple[str, str]:
    return "liquidity_too_low", f"the pool holds no more than {min_liquidity_usd:g} USD"


def pool_rows(
    pools: Sequence[ValuedPool],
    trades: Mapping[str, TradeResult | str],
    *,
    min_liquidity_usd: float,
) -> tuple[PoolResultRow, ...]:
    """Rows of the report. `trades` is keyed by Candidate.key; PENDING marks a running play."""
    return tuple(
        _row(ordinal, pool, trades.get(pool.candidate.key), min_liquidity_usd)
        for ordinal, pool in enumerate(pools)
    )


def _row(
    ordinal: int, pool: ValuedPool, trade: TradeResult | str | None, min_liquidity_usd: float
) -> PoolResultRow:
    # What others say of a pool's worth comes after it was played, and does not unmake the play.
    if trade is None:
        refusal = refusal_before_play(pool, min_liquidity_usd=min_liquidity_usd)
        (code, message), (buy, buy_tax, sell, sell_tax) = refusal or (None, None), _NO_SIDES
    else:
        (code, message), (buy, buy_tax, sell, sell_tax) = _fault(trade), _sides(trade)
    candidate = pool.candidate
    return PoolResultRow(
        ordinal=ordinal,
        pool=candidate.pool,
        pool_id=candidate.pool_id,
        kind=candidate.dex.kind,
        dex=candidate.dex.name,
        quote=candidate.quote,
        liquidity_usd=pool.value.liquidity_usd,
        quote_side_usd=pool.value.quote_side_usd,
        buy=buy,
        buy_tax=buy_tax,
        sell=sell,
        sell_tax=sell_tax,
        error_code=code,
        error_message=message,
        is_launchpad=None,
        token_usd=pool.token_usd,
    )


_NO_SIDES = None, None, None, None


def _sides(
    trade: TradeResult | str,
) -> tuple[TradeOutcome | None, float | None, TradeOutcome | None, float | None]:
    if isinstance(trade, str):
        return "pending", None, "pending", None
    return _settled(trade.buy), _tax(trade.buy), _settled(trade.sell), _tax(trade.sell)


def _settled(outcome: Outcome) -> TradeOutcome | None:
    if isinstance(outcome, Passed):
        return "passed"
    return "refused" if isinstance(outcome, Refused) else None


def _tax(outcome: Outcome) -> float | None:
    return outcome.tax if isinstance(outcome, Passed) else None


_MISSING_CODES = {
    "NODE": "simulation_unavailable",
    "POOL": "missing_swap_parameters",
    "FUNDS": "missing_swap_parameters",
    "HOLDER": "missing_swap_parameters",
}


def _fault(trade: TradeResult | str) -> tuple[str | None, str | None]:
    """Error code and message of a played pool; what the buy met comes before what the sale met."""
    if not isinstance(trade, TradeResult):
        return None, None
    faults = []
    for side, outcome in (("buy", trade.buy), ("sell", trade.sell)):
        if isinstance(outcome, Refused):
            faults.append((f"{side}_reverted", f"{side}: {outcome.reason}"))
        elif isinstance(outcome, NotRun):
            faults.append((_MISSING_CODES[outcome.missing], f"{side}: {outcome.reason}"))
    if not faults:
        return None, None
    return faults[0][0], "; ".join(message for _, message in faults)
