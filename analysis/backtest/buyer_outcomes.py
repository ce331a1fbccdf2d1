"""Outcomes of a token's buyers, compared with its verdict. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from analysis.backtest.pool_trades import PoolTrade
from core.evm.primitives import Address, HexBytes

BuyerOutcome = Literal["untried", "sold", "refused", "short"]
"""untried: no attempt to sell was seen. sold: every sale brought its full value. refused: a
sale failed for no reason of the trade's own, and none has passed since. short: the purchase
delivered, or a sale brought, less than LEAST_SHARE of the value at the pool's price."""

LaunchOutcome = Literal["trapped", "sold", "untried", "open"]
"""trapped: a buyer was refused or came short. sold: a buyer sold, and none was trapped. untried: no
buyer was seen to try. open: the index ends before the span, and no buyer is trapped yet."""

SPANS_S: Final[Mapping[str, int]] = {"hour": 3_600, "day": 86_400, "week": 604_800}

LEAST_SHARE: Final = 0.5
"""Least share of the tokens that the pool paid out, or of a sale's value at the pool's price."""

_DUST_RAW: Final = 1_000
"""Smallest units below which rounding decides the share."""


class ReadSale(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt to sell the token, read from its transaction."""

    block_number: int
    time_s: int
    trader: Address
    asked_raw: int | None
    """Amount to be sold, in smallest units. None: not known."""
    has_failed: bool
    """True if it failed, and not for a limit of the transaction itself."""


class LaunchedToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token whose first trade is in the range of a backtest."""

    token: Address
    pool: HexBytes
    first_block: int
    """Block of its first trade."""
    first_s: int
    """Time of that block, Unix seconds."""
    trades: tuple[PoolTrade, ...]
    """In order of the chain."""
    read: tuple[ReadSale, ...] = ()
    """Sales whose transactions were read, in chain order."""


class BuyerCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of a token's buyers by outcome, within a span."""

    bought: int
    untried: int
    sold: int
    refused: int
    short: int
    outcome: LaunchOutcome


class ScoredToken(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict from before the first trade, and the outcomes after it."""

    token: Address
    block_number: int
    """Block of the verdict."""
    verdict: str
    """Verdict of the summary; else refused or not_judged."""
    reason: str = ""
    """Why there is no verdict. Empty: there is one."""
    findings: str | None = None
    """Findings behind the verdict, as findings_key. None: there is no verdict."""
    buyers: dict[str, BuyerCounts]
    """Counts by name in SPANS_S."""


class ConfusionRow(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one verdict after one span."""

    verdict: str
    span: str
    trapped: int
    sold: int
    untried: int
    open: int


def outcomes_of_buyers(launch: LaunchedToken, *, span_s: int) -> dict[Address, BuyerOutcome]:
    """Return the outcome of each buyer within the span."""
    end_s = launch.first_s + span_s
    found: dict[Address, BuyerOutcome] = {}
    paid: dict[Address, tuple[float, float]] = {}
    last_price = 0.0
    refused_s = {
        one.trader: one.time_s for one in launch.read if one.has_failed and one.time_s <= end_s
    }
    asked_raw = _asked(launch)
    for trade in launch.trades:
        if trade.time_s > end_s:
            break
        if trade.is_buy:
            tokens, quotes = paid.get(trade.trader, (0.0, 0.0))
            paid[trade.trader] = tokens + trade.pool_raw, quotes + trade.quote_raw
            found.setdefault(trade.trader, "untried")
            is_short = _is_short(trade.moved_raw, trade.pool_raw)
        elif trade.trader in found:
            if found[trade.trader] == "untried":
                found[trade.trader] = "sold"
            tokens, quotes = paid[trade.trader]
            # The lower price: neither a fall before the sale nor the seller's own weight is a tax.
            price = min(last_price, quotes / tokens if tokens else last_price)
            left_raw = max(trade.moved_raw, asked_raw.get((trade.trader, trade.block_number), 0))
            is_short = _is_short(trade.quote_raw, left_raw * price)
            if refused_s.get(trade.trader, end_s) < trade.time_s:
                del refused_s[trade.trader]
        else:
            is_short = False
        if is_short:
            found[trade.trader] = "short"
        last_price = trade.price or last_price
    for trader in refused_s.keys() & found.keys():
        if found[trader] != "short":
            found[trader] = "refused"
    return found


def outcomes_of(launch: LaunchedToken, *, until_s: int) -> dict[str, BuyerCounts]:
    """Return the outcome of each span. `until_s`: time up to which trades are indexed, Unix
    seconds."""
    return {
        name: _counts(
            outcomes_of_buyers(launch, span_s=span_s).values(),
            is_over=until_s >= launch.first_s + span_s,
        )
        for name, span_s in SPANS_S.items()
    }


def confusion_of(scored: Iterable[ScoredToken]) -> list[ConfusionRow]:
    """Return the numbers of tokens by outcome, for each verdict and span."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for one in scored:
        for span, buyers in one.buyers.items():
            counts.setdefault((one.verdict, span), Counter())[buyers.outcome] += 1
    return [
        ConfusionRow(
            verdict=verdict,
            span=span,
            trapped=found["trapped"],
            sold=found["sold"],
            untried=found["untried"],
            open=found["open"],
        )
        for (verdict, span), found in sorted(
            counts.items(), key=lambda item: (item[0][0], SPANS_S[item[0][1]])
        )
    ]


def false_safe(scored: Sequence[ScoredToken]) -> list[ScoredToken]:
    """Return the tokens that were called safe and trapped a buyer within an hour."""
    return [
        one for one in scored if one.verdict == "safe" and one.buyers["hour"].outcome == "trapped"
    ]


def _asked(launch: LaunchedToken) -> dict[tuple[Address, int], int]:
    """Return the amounts to be sold, by trader and block, where the trader has one trade in it."""
    trades = Counter((one.trader, one.block_number) for one in launch.trades)
    return {
        key: one.asked_raw
        for one in launch.read
        if one.asked_raw
        and not one.has_failed
        and trades[key := (one.trader, one.block_number)] == 1
    }


def _is_short(got: float, worth: float) -> bool:
    return worth >= _DUST_RAW and got < LEAST_SHARE * worth


def _counts(ends: Iterable[BuyerOutcome], *, is_over: bool) -> BuyerCounts:
    count = Counter(ends)
    outcome: LaunchOutcome = "untried"
    if count["refused"] or count["short"]:
        outcome = "trapped"
    elif not is_over:
        outcome = "open"
    elif count["sold"]:
        outcome = "sold"
    return BuyerCounts(
        bought=count.total(),
        untried=count["untried"],
        sold=count["sold"],
        refused=count["refused"],
        short=count["short"],
        outcome=outcome,
    )
