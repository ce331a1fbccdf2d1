"""Traders of a pool's events, found by the token's transfers around them. Pure.

The store has no transactions: the trade comes from the pool's event, the trader from the token's
transfers nearest to it in the block. A pool that is a contract moves its tokens before it emits its
event; a contract that holds many pools settles afterwards.
"""

import bisect
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from core.evm.primitives import Address
from core.report.launch_events import FirstTrade, LaunchEvents, LaunchTrade, LaunchTransfer


class PoolTrade(msgspec.Struct, frozen=True, kw_only=True):
    """One trade with its trader. Amounts are in smallest units, with the precision of floats."""

    block_number: int
    time_s: int
    trader: Address
    is_buy: bool
    moved_raw: float
    """Tokens that reached or left the trader, by the token's events."""
    pool_raw: float
    """Tokens that left or reached the pool, by the pool's event."""
    quote_raw: float
    """Quote tokens that reached or left the pool, by the pool's event."""

    @property
    def price(self) -> float:
        """Quote units per unit of the token at the pool. 0: the pool moved no token."""
        return self.quote_raw / self.pool_raw if self.pool_raw else 0.0


def attribute_trades(launch: FirstTrade, events: LaunchEvents) -> tuple[PoolTrade, ...]:
    """Return the trades of a launch whose trader is known, in chain order.

    Trades of the token itself, which sells its fees, are left out.
    """
    trades: dict[int, list[LaunchTrade]] = defaultdict(list)
    moves: dict[int, list[LaunchTransfer]] = defaultdict(list)
    for trade in events.trades:
        trades[trade.block_number].append(trade)
    for move in events.transfers:
        moves[move.block_number].append(move)
    paid_out = Counter(move.recipient for move in events.transfers if move.sender == launch.holder)
    return tuple(
        one
        for number, of_block in trades.items()
        for one in _of_block(launch, of_block, moves[number], paid_out)
    )


def _of_block(
    launch: FirstTrade,
    trades: Sequence[LaunchTrade],
    moves: Sequence[LaunchTransfer],
    paid_out: Mapping[Address, int],
) -> Iterator[PoolTrade]:
    indexes = [move.log_index for move in moves]
    ends = [trade.log_index for trade in trades]
    settles_after = str(launch.pool) != launch.holder
    last_of: dict[Address, int] = {}
    """Log index at which the transfers of a trader's previous trade end."""
    for at, trade in enumerate(trades):
        if settles_after:
            low, high = ends[at], ends[at + 1] if at + 1 < len(ends) else math.inf
        else:
            low, high = ends[at - 1] if at else -1, ends[at]
        begin, end = bisect.bisect(indexes, low), bisect.bisect(indexes, high)
        move = _move_of(launch, trade, moves[begin:end], paid_out)
        if move is None:
            continue
        is_buy = trade.token_in_raw < 0
        trader = move.recipient if is_buy else move.sender
        if trader == launch.token:
            continue
        moved_raw = move.amount_raw
        if not is_buy:
            since = bisect.bisect(indexes, last_of.get(trader, low if settles_after else -1))
            moved_raw = sum(one.amount_raw for one in moves[since:end] if one.sender == trader)
        last_of[trader] = indexes[end - 1]
        yield PoolTrade(
            block_number=trade.block_number,
            time_s=trade.time_s,
            trader=trader,
            is_buy=is_buy,
            moved_raw=moved_raw,
            pool_raw=abs(trade.token_in_raw),
            quote_raw=abs(trade.quote_in_raw),
        )


def _move_of(
    launch: FirstTrade,
    trade: LaunchTrade,
    moves: Sequence[LaunchTransfer],
    paid_out: Mapping[Address, int],
) -> LaunchTransfer | None:
    """Return the trader's transfer. None: there is none of that direction.

    `paid_out`: number of payments of the pool by recipient.
    """
    is_buy = trade.token_in_raw < 0
    fitting = [
        move for move in moves if launch.holder == (move.sender if is_buy else move.recipient)
    ]
    whole_raw = abs(trade.token_in_raw)
    exact = [move for move in fitting if math.isclose(move.amount_raw, whole_raw)]
    if exact or not is_buy:
        largest = max(fitting, key=lambda move: move.amount_raw, default=None)
        return exact[-1] if exact else largest
    # A collector of fees is paid at every purchase, more often than any buyer, and maybe more.
    return min(
        (move for move in fitting if move.recipient != launch.token),
        key=lambda move: (paid_out[move.recipient], -move.amount_raw),
        default=None,
    )
