"""What happened to the buyers of a token, by its trades, and the verdicts that were right. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from core.primitives import Address

BuyerOutcome = Literal["trapped", "sold", "few", "open"]
"""trapped: there were buyers, and none of them has sold. sold: one has. few: too few bought to say.
open: what is indexed ends before the span does, and nobody has sold yet."""

SPANS_S: Final[Mapping[str, int]] = {"hour": 3_600, "day": 86_400, "week": 604_800}

LEAST_BUYERS: Final = 3


class PoolTrade(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody's trade with the pool."""

    time_s: int
    trader: Address
    is_buy: bool


class LaunchedToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token whose first trade is in the range of a backtest."""

    token: Address
    pool: Address
    first_block: int
    """Block of its first trade."""
    first_s: int
    """Time of that block, Unix seconds."""
    trades: tuple[PoolTrade, ...]
    """In order of the chain."""


class ScoredToken(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict of before the first trade, and what followed."""

    token: Address
    block_number: int
    """Block that was judged."""
    verdict: str
    """Of the summary; refused, or not_judged."""
    reason: str = ""
    """Why there is no verdict. Empty: there is one."""
    outcomes: dict[str, BuyerOutcome]
    """By the names of SPANS_S."""


class ConfusionRow(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one verdict after one span."""

    verdict: str
    span: str
    trapped: int
    sold: int
    few: int
    open: int


def outcome_of(launch: LaunchedToken, *, span_s: int, until_s: int) -> BuyerOutcome:
    """Return what happened to those who bought within the span. `until_s`: time up to which trades
    are indexed, Unix seconds."""
    end_s = launch.first_s + span_s
    buyers: set[Address] = set()
    for trade in launch.trades:
        if trade.time_s > end_s:
            break
        if trade.is_buy:
            buyers.add(trade.trader)
        elif trade.trader in buyers:
            return "sold"
    if until_s < end_s:
        return "open"
    return "trapped" if len(buyers) >= LEAST_BUYERS else "few"


def outcomes_of(launch: LaunchedToken, *, until_s: int) -> dict[str, BuyerOutcome]:
    """Return the outcome of each span."""
    return {
        name: outcome_of(launch, span_s=span_s, until_s=until_s) for name, span_s in SPANS_S.items()
    }


def confusion_of(scored: Iterable[ScoredToken]) -> list[ConfusionRow]:
    """Return how many tokens of each verdict came to which end, by verdict and span."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for one in scored:
        for span, outcome in one.outcomes.items():
            counts.setdefault((one.verdict, span), Counter())[outcome] += 1
    return [
        ConfusionRow(
            verdict=verdict,
            span=span,
            trapped=found["trapped"],
            sold=found["sold"],
            few=found["few"],
            open=found["open"],
        )
        for (verdict, span), found in sorted(
            counts.items(), key=lambda item: (item[0][0], SPANS_S[item[0][1]])
        )
    ]


def false_safe(scored: Sequence[ScoredToken]) -> list[ScoredToken]:
    """Return the tokens that were called safe and trapped their buyers within an hour."""
    return [one for one in scored if one.verdict == "safe" and one.outcomes["hour"] == "trapped"]
