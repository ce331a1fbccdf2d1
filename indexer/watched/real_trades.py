"""Taxes of real trades, computed from the logs of their transactions, and their comparison with
predictions. Pure.

A tax is only computed where the logs allow one reading: one trader, one swap of the pool for which
the tokens were intended, and no other pool or router in between. Anything else is left out, as
unknown. Purchases are measured by the token's Transfer events, which it may forge; so are sales to
pools that report ordered amounts. Other sales are measured by the pool's reported input. Where no
event names the buyer, the recipient of the tokens counts as buyer, with a tax only if the same
account paid. No tax is computed where a hook may take some of the other token, which the token's
events do not show.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from config.burn import BURN_ADDRESSES
from core.report.accuracy import is_near
from core.report.report import TradeOutcome
from indexer.decode.swap_transactions import TokenMove
from indexer.watched.token_swaps import TokenLogs, TokenSwap, is_all_of_holder
from sql.engine.columns import blob

_LEAST_RAW: Final = 1_000
"""Fewest units of a trade; below, rounding decides its tax."""

TAKES_TAX: Final = frozenset(blob(address) for address in BURN_ADDRESSES) | {bytes(20)}
"""Addresses besides the token that receive taxes and never trade."""

TradeSide = Literal["buy", "sell"]


class RealTrade(msgspec.Struct, frozen=True, kw_only=True):
    """One trade whose tax follows from the logs."""

    log_index: int
    pool: bytes
    side: TradeSide
    trader: bytes
    tax_pct: float | None
    """None: unknown."""
    others: frozenset[bytes] = frozenset()
    """Recipients of tokens from the seller other than the pool; usually tax collectors."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """Prediction of a report for one side of one pool."""

    outcome: TradeOutcome | None
    tax_pct: float | None


class SwapReading(msgspec.Struct, frozen=True, kw_only=True):
    """Reading of one swap from the logs."""

    swap: TokenSwap
    side: TradeSide
    is_own: bool
    """True if the token sells its own balance, as many do with their fees."""
    trade: RealTrade | None
    """None: its tax is unknown."""


def find_trades(logs: TokenLogs) -> Iterator[RealTrade]:
    """Yield the trades of one transaction that have one reading."""
    for reading in read_swaps(logs):
        if reading.trade is not None:
            yield reading.trade


def read_swaps(logs: TokenLogs) -> Iterator[SwapReading]:
    """Yield the reading of each swap of one transaction."""
    read = [(swap, *_parties(logs, swap)) for swap in logs.swaps]
    trades_of = Counter(trader for _, _, trader in read)
    swaps_at = Counter(swap.holder for swap in logs.swaps if swap.has_no_place)
    for swap, side, trader in read:
        is_known = (
            trader is not None
            and trades_of[trader] == 1
            and trader not in logs.swapped
            and swaps_at[swap.holder] <= 1
            and (not swap.is_shared or not logs.has_other_entries or is_all_of_holder(logs, swap))
        )
        yield SwapReading(
            swap=swap,
            side=side,
            is_own=trader == logs.token,
            trade=_trade(logs, swap, side, trader)
            if is_known and trader is not None and trader != logs.token
            else None,
        )


def _parties(logs: TokenLogs, swap: TokenSwap) -> tuple[TradeSide, bytes | None]:
    """Return the side and the trader. None: the logs name no trader, or several."""
    own = _moves_of(logs, swap)
    if swap.token_in > 0:
        senders = {move.sender for move in own if move.recipient == swap.holder}
        return "sell", senders.pop() if len(senders) == 1 else None
    if swap.recipient is not None:
        return "buy", swap.recipient
    got = {move.recipient for move in own if move.sender == swap.holder}
    if swap.payer in got:
        return "buy", swap.payer
    if got != {logs.token}:
        got -= TAKES_TAX | {logs.token}
    return "buy", got.pop() if len(got) == 1 else None


def _moves_of(logs: TokenLogs, swap: TokenSwap) -> list[TokenMove]:
    """Return the moves that belong to a swap: those since the last swap of the pool, or all if they
    may come at any time."""
    if swap.has_no_place:
        return list(logs.moves)
    before = max(
        (one.log_index for one in logs.swaps if _is_before(one, swap)),
        default=-1,
    )
    return [move for move in logs.moves if before < move.log_index < swap.first_log]


def _is_before(one: TokenSwap, swap: TokenSwap) -> bool:
    return one.holder == swap.holder and one.log_index < swap.first_log


def _trade(logs: TokenLogs, swap: TokenSwap, side: TradeSide, trader: bytes) -> RealTrade | None:
    """Return the trade. None: tokens were passed on or came from elsewhere, or rounding decides."""
    sent = [move for move in logs.moves if move.sender == trader]
    sent_raw = sum(move.amount_raw for move in sent)
    received_raw = sum(move.amount_raw for move in logs.moves if move.recipient == trader)
    passed_on = received_raw if side == "sell" else sent_raw
    whole = float(sent_raw) if side == "sell" else -swap.token_in
    reached = _reached(logs, swap) if side == "sell" else float(received_raw)
    if passed_on or whole < _LEAST_RAW:
        return None
    is_certain = not swap.may_be_hooked and (
        side == "sell" or trader in (swap.recipient, swap.payer)
    )
    return RealTrade(
        log_index=swap.log_index,
        pool=swap.pool,
        side=side,
        trader=trader,
        tax_pct=100 * (whole - reached) / whole if is_certain else None,
        others=frozenset(move.recipient for move in sent) - {swap.holder},
    )


def _reached(logs: TokenLogs, swap: TokenSwap) -> float:
    """Return the amount that a pool received in a sale."""
    if not swap.is_order:
        return swap.token_in
    own = _moves_of(logs, swap)
    arrived = sum(move.amount_raw for move in own if move.recipient == swap.holder)
    return min(swap.token_in, float(arrived))


def differs(trade: RealTrade, predicted: Prediction) -> str | None:
    """Describe the difference of a trade from its prediction. None: there is none, or no
    prediction."""
    tax_pct = trade.tax_pct
    paid = f"{trade.side} passed" if tax_pct is None else f"{trade.side} paid {tax_pct:.2f} %"
    if predicted.outcome == "refused":
        return f"{paid}, predicted to be refused"
    if predicted.outcome != "passed" or predicted.tax_pct is None or tax_pct is None:
        return None
    if is_near(tax_pct, predicted.tax_pct):
        return None
    return f"{paid}, predicted {predicted.tax_pct:.2f} %"
