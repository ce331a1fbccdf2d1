"""What real trades paid as tax, by the logs of their transaction, beside a prediction. Pure.

A tax is only stated where the logs leave one reading: one trader, one swap of the pool that the
tokens were meant for, and no other pool or router between. Anything else is left out, as unknown.
Purchases are measured by the token's own Transfer events, which it may forge; what a pool received
in a sale is the pool's own account.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, Protocol

import msgspec

from core.accuracy import is_near
from core.primitives import Address
from core.report import TradeOutcome
from indexer.decode.swap_transactions import SwapAmounts, SwapTransaction, TokenMove
from sql.columns import blob

_LEAST_RAW: Final = 1_000
"""Smallest units of a trade below which rounding decides its tax."""

TradeSide = Literal["buy", "sell"]


class TokenSwap(msgspec.Struct, frozen=True, kw_only=True):
    """One Swap event of a pool of the token."""

    log_index: int
    pool: bytes
    recipient: bytes
    """To whom the pool was asked to send what it paid out."""
    token_in: float
    """Tokens that the pool received, less those that it paid out: below 0 for a purchase."""


class _Pool(Protocol):
    @property
    def quote(self) -> Address: ...


def swaps_of_token(
    transaction: SwapTransaction,
    token: bytes,
    pools: Mapping[bytes, _Pool],
    amounts: SwapAmounts,
) -> Iterator[TokenSwap]:
    """Yield the swaps of a transaction in these pools of the token, by log index; those without
    known amounts are left out."""
    for log_index, (pool, recipient) in sorted(transaction.swaps.items()):
        known = amounts.get((transaction.block_number, log_index))
        if pool in pools and known is not None:
            side = 0 if token < blob(pools[pool].quote) else 1  # pools sort their tokens
            yield TokenSwap(
                log_index=log_index, pool=pool, recipient=recipient, token_in=known[side]
            )


class RealTrade(msgspec.Struct, frozen=True, kw_only=True):
    """One trade whose tax the logs tell."""

    log_index: int
    pool: bytes
    side: TradeSide
    trader: bytes
    tax_pct: float
    others: frozenset[bytes] = frozenset()
    """To whom else than the pool the trader of a sale sent tokens: those who take the tax, as a
    rule."""


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


class SwapReading(msgspec.Struct, frozen=True, kw_only=True):
    """What the logs say of one swap."""

    swap: TokenSwap
    side: TradeSide
    is_own: bool
    """True if the token sells what it holds, as many do with their fees."""
    trade: RealTrade | None
    """None: its tax cannot be told."""


def find_trades(logs: TokenLogs) -> Iterator[RealTrade]:
    """Yield the trades of one transaction whose tax is certain."""
    for reading in read_swaps(logs):
        if reading.trade is not None:
            yield reading.trade


def read_swaps(logs: TokenLogs) -> Iterator[SwapReading]:
    """Yield what is known of each swap of one transaction."""
    before: dict[bytes, int] = defaultdict(lambda: -1)
    read: list[tuple[TokenSwap, TradeSide, bytes | None]] = []
    for swap in logs.swaps:
        own = [move for move in logs.moves if before[swap.pool] < move.log_index < swap.log_index]
        before[swap.pool] = swap.log_index
        is_sale = swap.token_in > 0
        trader = _seller(own, swap) if is_sale else swap.recipient
        read.append((swap, "sell" if is_sale else "buy", trader))
    trades_of = Counter(trader for _, _, trader in read)
    for swap, side, trader in read:
        is_known = trader is not None and trades_of[trader] == 1 and trader not in logs.swapped
        yield SwapReading(
            swap=swap,
            side=side,
            is_own=trader == logs.token,
            trade=_trade(logs, swap, side, trader)
            if is_known and trader is not None and trader != logs.token
            else None,
        )


def _trade(logs: TokenLogs, swap: TokenSwap, side: TradeSide, trader: bytes) -> RealTrade | None:
    """Return the trade. None: tokens went on or came from elsewhere, or rounding decides."""
    sent = [move for move in logs.moves if move.sender == trader]
    sent_raw = sum(move.amount_raw for move in sent)
    received_raw = sum(move.amount_raw for move in logs.moves if move.recipient == trader)
    passed_on = received_raw if side == "sell" else sent_raw
    whole = float(sent_raw) if side == "sell" else -swap.token_in
    reached = swap.token_in if side == "sell" else float(received_raw)
    if passed_on or whole < _LEAST_RAW:
        return None
    return RealTrade(
        log_index=swap.log_index,
        pool=swap.pool,
        side=side,
        trader=trader,
        tax_pct=100 * (whole - reached) / whole,
        others=frozenset(move.recipient for move in sent) - {swap.pool},
    )


def differs(trade: RealTrade, predicted: Prediction) -> str | None:
    """Return how a trade differs from its prediction, in words. None: it does not, or there is no
    prediction to compare it with."""
    paid = f"{trade.side} paid {trade.tax_pct:.2f} %"
    if predicted.outcome == "refused":
        return f"{paid}, predicted to be refused"
    if predicted.outcome != "passed" or predicted.tax_pct is None:
        return None
    if is_near(trade.tax_pct, predicted.tax_pct):
        return None
    return f"{paid}, predicted {predicted.tax_pct:.2f} %"


def _seller(own: Sequence[TokenMove], swap: TokenSwap) -> bytes | None:
    """Return who sent the pool what it sold. None: nobody by the logs, or several."""
    senders = {move.sender for move in own if move.recipient == swap.pool}
    return senders.pop() if len(senders) == 1 else None
