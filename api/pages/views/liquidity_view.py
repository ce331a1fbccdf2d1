"""View of a token's liquidity: the parts of each pool's bar, in words and numbers."""

import time

import msgspec

from api.formats.resources.liquidity_format import LiquidityPool


class LiquidityPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a pool's bar."""

    kind: str
    """Class of its colour."""
    words: str
    start: float
    """0 to 1."""
    share: float
    """0 to 1."""
    text: str
    """The share in percent."""


def liquidity_parts(pool: LiquidityPool) -> tuple[LiquidityPart, ...]:
    """Build the parts that are not empty, from burnt to unknown."""
    shares = (
        ("burn", "burnt", pool.burnt_share),
        ("lock", "locked", pool.locked_share),
        ("owner", "can be withdrawn now", pool.withdrawable_share),
        ("contract", "held by contracts that may allow it", pool.unknown_share),
        ("others", f"not accounted for: {pool.gap}", pool.unaccounted_share),
    )
    parts, start = [], 0.0
    for kind, words, share in shares:
        if share > _LEAST_SHOWN:
            parts.append(
                LiquidityPart(kind=kind, words=words, start=start, share=share, text=percent(share))
            )
        start += share
    return tuple(parts)


_LEAST_SHOWN = 1e-6


def percent(share: float) -> str:
    """Return a share as percent with two decimals."""
    return f"{100 * share:.2f} %"


def utc_day(unix_s: int) -> str:
    """Return the day of a time; times beyond the calendar as their number."""
    try:
        return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(unix_s))
    except (OverflowError, ValueError, OSError):
        return f"Unix time {unix_s}"
