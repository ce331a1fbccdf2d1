"""Bounds on the pools of one token that are entries of one contract, of which anybody makes many
for little.

A lower bound of reserves cannot exceed what was deposited, so a deep pool cannot be crowded out by
empty ones.
"""

from collections.abc import Sequence

from analysis.market.venues.pool import Candidate, PoolState

MOST_SUMMED = 100
"""Most pools of one token and contract whose positions are summed; the rest are left out."""

MOST_SWEPT = 30_000
"""Most pools of one token and contract that are read; of more, the first made and the newest."""


def within_bound(pools: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return at most MOST_SWEPT pools. The first made stay: no later ones can crowd them out."""
    if len(pools) <= MOST_SWEPT:
        return pools
    half = MOST_SWEPT // 2
    return (*pools[:half], *pools[-half:])


def pick_deepest(swept: Sequence[tuple[Candidate, PoolState | None]]) -> tuple[Candidate, ...]:
    """Return the pools whose positions are worth summing, at most MOST_SUMMED: for each quote token
    those with most of it by the lower bound."""
    by_quote: dict[str, list[tuple[int, Candidate]]] = {}
    for pool, state in swept:
        if state is not None and state.in_range_liquidity:
            by_quote.setdefault(pool.quote, []).append((state.quote_reserve_raw, pool))
    if not by_quote:
        return ()
    each = max(1, MOST_SUMMED // len(by_quote))
    return tuple(
        pool
        for pools in by_quote.values()
        for _, pool in sorted(pools, key=lambda one: -one[0])[:each]
    )
