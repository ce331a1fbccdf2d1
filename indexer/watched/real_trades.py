"""What real trades paid as tax, by the logs of their transaction, beside a prediction. Pure.

A tax is only stated where the logs leave one reading: one trader, one swap of the pool that the
tokens were meant for, and no other pool or router between. Anything else is left out, as unknown.
Purchases are measured by the token's own Transfer events, which it may forge; what a pool received
in a sale is the pool's own account.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from core.report import TradeOutcome

TOLERANCE_POINTS: Final = 0.5
"""Percentage points by which a tax may differ from the prediction: amounts are rounded, and some
taxes move a little with the amount."""

_LEAST_RAW: Final = 1_000
"""Smallest units of a trade below which rounding decides its tax."""

TradeSide = Literal["buy", "sell"]


class TokenMove(msgspec.Struct, frozen=True, kw_only=True):
    """One Transfer event of the token. Addresses are 20 bytes."""

    log_index: int
    sender: bytes
    recipient: bytes
    amount_raw: int


class TokenSwap(msgspec.Struct, frozen=True, kw_only=True):
    """One Swap event of a pool of the token."""

    log_index: int
    pool: bytes
    recipient: bytes
    """To whom the pool was asked to send what it paid out."""
    token_in: float
    """Tokens that the pool received, less those that it paid out: below 0 for a purchase."""


class RealTrade(msgspec.Struct, frozen=True, kw_only=True):
    """One trade whose tax the logs tell."""

    log_index: int
    pool: bytes
    side: TradeSide
    trader: bytes
    tax_pct: float


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """What a report says of one side of one pool."""

    outcome: TradeOutcome | None
    tax_pct: float | None


class TokenLogs(msgspec.Struct, frozen=True, kw_only=True):
    """What one transaction did with one token, in order of the logs."""

    token: bytes
    moves: Sequence[TokenMove]
    swaps: Sequence[TokenSwap]
    swapped: frozenset[bytes]
    """All contracts that emitted a Swap event in it, pools of other tokens included."""


def find_trades(logs: TokenLogs) -> Iterator[RealTrade]:
    """Yield the trades of one transaction whose tax is certain."""
    before: dict[bytes, int] = defaultdict(lambda: -1)
    traders: list[tuple[TokenSwap, TradeSide, bytes]] = []
    for swap in logs.swaps:
        own = [move for move in logs.moves if before[swap.pool] < move.log_index < swap.log_index]
        before[swap.pool] = swap.log_index
        trader = _seller(own, swap) if swap.token_in > 0 else swap.recipient
        if trader is not None:
            traders.append((swap, "sell" if swap.token_in > 0 else "buy", trader))
    trades_of = Counter(trader for _, _, trader in traders)
    for swap, side, trader in traders:
        if trades_of[trader] > 1 or trader in logs.swapped or trader == logs.token:
            continue
        sent = sum(move.amount_raw for move in logs.moves if move.sender == trader)
        received = sum(move.amount_raw for move in logs.moves if move.recipient == trader)
        passed_on = received if side == "sell" else sent
        whole = float(sent) if side == "sell" else -swap.token_in
        reached = swap.token_in if side == "sell" else float(received)
        if passed_on or whole < _LEAST_RAW:
            continue
        tax_pct = 100 * (whole - reached) / whole
        yield RealTrade(
            log_index=swap.log_index, pool=swap.pool, side=side, trader=trader, tax_pct=tax_pct
        )


def differs(trade: RealTrade, predicted: Prediction) -> str | None:
    """Return how a trade differs from its prediction, in words. None: it does not, or there is no
    prediction to compare it with."""
    paid = f"{trade.side} paid {trade.tax_pct:.2f} %"
    if predicted.outcome == "refused":
        return f"{paid}, predicted to be refused"
    if predicted.outcome != "passed" or predicted.tax_pct is None:
        return None
    if abs(trade.tax_pct - predicted.tax_pct) <= TOLERANCE_POINTS:
        return None
    return f"{paid}, predicted {predicted.tax_pct:.2f} %"


def _seller(own: Sequence[TokenMove], swap: TokenSwap) -> bytes | None:
    """Return who sent the pool what it sold. None: nobody by the logs, or several."""
    senders = {move.sender for move in own if move.recipient == swap.pool}
    return senders.pop() if len(senders) == 1 else None
