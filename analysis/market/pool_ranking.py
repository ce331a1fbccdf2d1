"""Pool ranking and report rows: values pools, picks those whose trades are simulated, and turns the
results into rows.

Pure: no I/O. Pools that cannot be read or have no priced side are left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import msgspec

from analysis.market.liquidity_value import PoolValue, Price, value_pool
from analysis.market.venues.pool import Candidate, PoolState
from analysis.simulation.simulate_v1 import NotSimulated, Outcome, Passed, Refused
from core.evm.primitives import Address, RawAmount
from core.report.report import LIQUIDITY_UNKNOWN, PoolResultRow, TradeOutcome


class ValuedPool(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A pool with its state and its value in USD."""

    candidate: Candidate
    state: PoolState
    value: PoolValue
    token_usd: float | None = None
    """USD of one whole token at the spot price. None: the price, or that of the quote token, is
    unknown."""
    token_side_usd: float = 0.0
    """USD value of the pool's tokens at its spot price, which its creator chose.

    0: the price, or that of the quote token, is unknown.
    """
    quote_unit_usd: float | None = None
    """USD of the quote token's smallest unit. None: it has no price."""

    @property
    def is_concentrated(self) -> bool:
        """True for concentrated liquidity, where one side may be empty."""
        return self.state.in_range_liquidity is not None

    @property
    def trade_reference_raw(self) -> RawAmount:
        """Base amount of trade sizes, in smallest units of the quote token.

        It is the quote reserve, or the value of the pool's tokens at its own price if that is more:
        a pool that opens with tokens only takes quote as well.
        """
        reserve = self.state.quote_reserve_raw
        if not self.is_concentrated or not self.quote_unit_usd:
            return reserve
        capped_usd = min(self.token_side_usd, _MOST_REFERENCE_USD)
        return max(reserve, RawAmount(int(capped_usd / self.quote_unit_usd)))

    def is_opening(self, *, min_liquidity_usd: float) -> bool:
        """True if the pool has too little quote to count, but tokens to sell for more.

        That is the state before the first buy of a launch.
        """
        return (
            self.is_concentrated
            and self.value.liquidity_usd <= min_liquidity_usd < self.token_side_usd
        )


_MOST_REFERENCE_USD = 50_000.0
"""Most value of tokens that counts at a price which the pool's creator chose."""


class TradeResult(msgspec.Struct, frozen=True, kw_only=True):
    """Simulated buy and sale in one pool, with the results of later and other sales. None: not
    known."""

    buy: Outcome
    sell: Outcome
    absorbed_raw: RawAmount | None = None
    """Quote that the pool took in a simulated buy slightly above the minimum, in smallest units.
    None: not simulated."""
    sell_blocked_later: bool | None = None
    """The sale reverts within 30 days, though it passed earlier."""
    sell_tax_rises: bool | None = None
    """Half or more is taken later or after trades of others, and less at the pinned block."""
    sell_depends_on_size: bool | None = None
    """Some buyers can sell, or keep half, and others cannot, by the amount they hold."""
    sell_depends_on_conditions: bool | None = None
    """The sale reverts, or half is taken, for ordinary values of fees, gas or coins."""
    sell_blocked_after_others: bool | None = None
    """The sale reverts after trades of others, or after the buyer's own second buy."""


def either(*answers: bool | None) -> bool | None:
    """Return the three-valued OR: True if any is True, else None if any is None or there are none,
    else False."""
    if any(answers):
        return True
    return None if None in answers or not answers else False


PENDING = "pending"
"""Placeholder for a TradeResult while the simulations are running."""


def rank_pools(
    states: Iterable[tuple[Candidate, PoolState | None]],
    prices: Mapping[Address, Price],
    *,
    decimals: int,
) -> tuple[ValuedPool, ...]:
    """Return the pools with a priced side, deepest first. Unreadable and unpriced pools are left
    out.

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
    """Sort pools by liquidity, deepest first."""
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
    """Return the pools except those that may seem shallow only because the node did not return all
    of their state."""
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
    """Return the deepest pools whose trades are worth simulating. Where there is none, return those
    that opened with tokens only, the most tokens first."""
    fit = [
        pool
        for pool in pools
        if refusal_before_play(pool, min_liquidity_usd=min_liquidity_usd) is None
    ]
    if not fit:
        opening = [pool for pool in pools if pool.is_opening(min_liquidity_usd=min_liquidity_usd)]
        fit = sorted(opening, key=lambda pool: (-pool.token_side_usd, pool.candidate.key))
    return tuple(fit[:at_most])


def refusal_before_play(pool: ValuedPool, *, min_liquidity_usd: float) -> tuple[str, str] | None:
    """Return error code and message for a pool that is not simulated. None: it can be."""
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
    """Return the report's pool rows. `trades` is keyed by `Candidate.key`; PENDING marks a running
    simulation."""
    proved = by_depth(with_absorbed(pool, trades.get(pool.candidate.key)) for pool in pools)
    return tuple(
        _row(ordinal, pool, trades.get(pool.candidate.key), min_liquidity_usd)
        for ordinal, pool in enumerate(proved)
    )


def with_absorbed(pool: ValuedPool, trade: TradeResult | str | None) -> ValuedPool:
    """Return the pool with its quote side raised to the amount that it took from a buyer.

    The price of its tokens proves nothing, as the pool's creator chose it, but the next seller can
    take the quote that it took. The simulated amount is slightly above the minimum, so it never
    counts for more. A token that could not be bought adds nothing.
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
    # External figures of a pool's value arrive after its simulation and do not undo the result.
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
    """Return error code and message of a simulated pool; those of the buy come before those of the
    sale."""
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
