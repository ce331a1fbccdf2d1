"""From pools found to pools valued, ranked and ready to be traded on stage. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import msgspec

from analysis.market.liquidity_value import PoolValue, Price, value_pool
from analysis.market.venues.pool import Candidate, PoolState
from analysis.simulation.simulate_v1 import NotSimulated, Outcome, Passed, Refused
from config.primitives import Address, RawAmount
from sql.rows import LIQUIDITY_UNKNOWN, PoolResultRow, TradeOutcome

TRADED_KINDS = frozenset({"AmmV2", "AmmV3", "AmmV4", "Solid", "SolidV3"})
"""Kinds whose trades can be played."""


class ValuedPool(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A pool with its worth."""

    candidate: Candidate
    state: PoolState
    value: PoolValue
    token_usd: float | None = None
    """USD of one whole token at the spot price. None: the price or the other side's is unknown."""
    token_side_usd: float = 0.0
    """What the pool's tokens come to at its own spot price, which whoever opened it has chosen. 0:
    the price or the other side's is unknown."""
    quote_unit_usd: float | None = None
    """USD of the quote token's smallest unit. None: it has no price."""

    @property
    def is_concentrated(self) -> bool:
        """Whether one side may be empty."""
        return self.state.in_range_liquidity is not None

    @property
    def trade_reference_raw(self) -> RawAmount:
        """How much quote can sensibly be paid in, of which trades are parts.

        What the pool holds of it; or what its tokens come to at its price, where that is more: a
        pool that opens with tokens only takes quote as well.
        """
        reserve = self.state.quote_reserve_raw
        if not self.is_concentrated or not self.quote_unit_usd:
            return reserve
        told_usd = min(self.token_side_usd, _MOST_REFERENCE_USD)
        return max(reserve, RawAmount(int(told_usd / self.quote_unit_usd)))

    def is_opening(self, *, min_liquidity_usd: float) -> bool:
        """Whether it is too poor in quote to count, as before the first buy of a launch, but has
        tokens to sell for more than the minimum."""
        return (
            self.is_concentrated
            and self.value.liquidity_usd <= min_liquidity_usd < self.token_side_usd
        )


_MOST_REFERENCE_USD = 50_000.0
"""Of tokens at a price that somebody has chosen."""


class TradeResult(msgspec.Struct, frozen=True, kw_only=True):
    """Both simulated sides of one pool, and what later or other sales met. None: not learnt."""

    buy: Outcome
    sell: Outcome
    absorbed_raw: RawAmount | None = None
    """Smallest units of quote that the pool really took when it was asked what it would take of a
    little more than the minimum. None: it was not asked."""
    sell_blocked_later: bool | None = None
    """Refused within 30 days, though it passed earlier."""
    sell_tax_rises: bool | None = None
    """Half or more is taken later or after others' trades, and less today."""
    sell_depends_on_size: bool | None = None
    """Some buyers can sell, or keep half, and others cannot."""
    sell_depends_on_conditions: bool | None = None
    """Refused, or half is taken, on ordinary values of what the code asks: fees, gas, coins."""
    sell_blocked_after_others: bool | None = None
    """Refused after other people's trades, or one's own second buy."""


def either(*answers: bool | None) -> bool | None:
    """True where one is; None where one is not known; else False."""
    if any(answers):
        return True
    return None if None in answers or not answers else False


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
            quote = prices.get(candidate.quote)
            valued.append(
                ValuedPool(
                    candidate=candidate,
                    state=state,
                    value=value,
                    token_usd=usd,
                    token_side_usd=(usd or 0.0) * state.token_reserve_raw / 10.0**decimals,
                    quote_unit_usd=None if quote is None else quote.usd / 10.0**quote.decimals,
                )
            )
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
    """The deepest pools whose trades are worth playing; where none is, those that open with tokens
    only, the most tokens first."""
    fit = [
        pool
        for pool in pools
        if pool.candidate.dex.kind in TRADED_KINDS
        and refusal_before_play(pool, min_liquidity_usd=min_liquidity_usd) is None
    ]
    if not fit:
        opening = [pool for pool in pools if pool.is_opening(min_liquidity_usd=min_liquidity_usd)]
        fit = sorted(opening, key=lambda pool: (-pool.token_side_usd, pool.candidate.key))
    return tuple(fit[:at_most])


def refusal_before_play(pool: ValuedPool, *, min_liquidity_usd: float) -> tuple[str, str] | None:
    """Error code and message of a pool that no simulation is tried on. None: one may be."""
    if pool.state.is_unknown:
        if pool.value.liquidity_usd > 0:
            return "missing_swap_parameters", f"{_NOT_TRADED} {pool.candidate.dex.name}"
        return LIQUIDITY_UNKNOWN, f"what the pool holds is not known: {pool.candidate.dex.name}"
    if not pool.value.liquidity_usd > min_liquidity_usd:
        return _too_low(min_liquidity_usd)
    return None


_NOT_TRADED = "this service does not trade in pools of"


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
    proved = by_depth(with_absorbed(pool, trades.get(pool.candidate.key)) for pool in pools)
    return tuple(
        _row(ordinal, pool, trades.get(pool.candidate.key), min_liquidity_usd)
        for ordinal, pool in enumerate(proved)
    )


def with_absorbed(pool: ValuedPool, trade: TradeResult | str | None) -> ValuedPool:
    """The pool with what it was seen to take from buyers, where it holds less than that of quote.

    Its tokens' own price proves nothing, as whoever opened the pool chose it; what it takes is
    there for the next seller. It is asked for a little more than the minimum, so it never counts
    for more. A token that nobody could buy adds nothing.
    """
    if not isinstance(trade, TradeResult) or not isinstance(trade.buy, Passed):
        return pool
    taken_usd = (trade.absorbed_raw or 0) * (pool.quote_unit_usd or 0.0)
    if taken_usd <= pool.value.quote_side_usd:
        return pool
    value = PoolValue(
        liquidity_usd=max(taken_usd, pool.value.liquidity_usd), quote_side_usd=taken_usd
    )
    return msgspec.structs.replace(pool, value=value)


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
    "LIQUIDITY": "one_sided_liquidity",
}


def _fault(trade: TradeResult | str) -> tuple[str | None, str | None]:
    """Error code and message of a played pool; what the buy met comes before what the sale met."""
    if not isinstance(trade, TradeResult):
        return None, None
    if _is_out_of_reach(trade.buy) and _is_out_of_reach(trade.sell):
        return "no_in_range_liquidity", "no liquidity is reached by buying or by selling"
    faults = []
    for side, outcome in (("buy", trade.buy), ("sell", trade.sell)):
        if isinstance(outcome, Refused):
            faults.append((f"{side}_reverted", f"{side}: {outcome.reason}"))
        elif isinstance(outcome, NotSimulated):
            faults.append((_MISSING_CODES[outcome.missing], f"{side}: {outcome.reason}"))
    if not faults:
        return None, None
    return faults[0][0], "; ".join(message for _, message in faults)


def _is_out_of_reach(outcome: Outcome) -> bool:
    return isinstance(outcome, NotSimulated) and outcome.missing == "LIQUIDITY"
