"""Tokens by their first trade, and who traded them since, read from the views of analysts."""

from collections.abc import Collection
from typing import Final

import duckdb
import msgspec

from core.primitives import Address

_LAUNCHES: Final = """
with first as (
    select pool_key as pool, token0, token1, min(block_number) as first_block,
        epoch(min(block_time))::bigint as first_s
    from v_trades
    where chain = $chain and length(pool_key) = $address_chars
    group by all
    having min(block_number) between $first and $last
)
select pool, token0, token1, first_block, first_s from first order by first_block, pool
"""

_MOVES: Final = """
with traded as (
    select block_number, epoch(any_value(block_time))::bigint as time_s,
        bool_or(if(token0 = $token, amount0_raw, amount1_raw) < 0) as has_buy,
        bool_or(if(token0 = $token, amount0_raw, amount1_raw) > 0) as has_sale
    from v_trades
    where chain = $chain and pool_key = $pool and block_number >= $first
    group by all
)
select traded.time_s, moved.sender, moved.recipient, moved.recipient != $pool as is_buy
from v_transfers moved
join traded on traded.block_number = moved.block_number
where
    moved.chain = $chain and moved.token = $token
    and (moved.sender = $pool and traded.has_buy or moved.recipient = $pool and traded.has_sale)
order by moved.block_number, moved.log_index
"""

_TIP: Final = """
select epoch(max(block_time))::bigint from v_checkpoints where chain = $chain and stream = 'follow'
"""

_LATEST: Final = "select epoch(max(block_time))::bigint from v_trades where chain = $chain"

_ADDRESS_CHARS: Final = 42


class FirstTrade(msgspec.Struct, frozen=True, kw_only=True):
    """A pool whose first trade is in the range asked for."""

    pool: Address
    token: Address
    """The side that is no anchor."""
    first_block: int
    first_s: int
    """Time of that block, Unix seconds."""


class PoolMove(msgspec.Struct, frozen=True, kw_only=True):
    """A transfer between the pool and somebody, in a block with a trade of that direction."""

    time_s: int
    trader: Address
    is_buy: bool


def find_first_trades(
    store: duckdb.DuckDBPyConnection,
    *,
    chain_id: int,
    first: int,
    last: int,
    anchors: Collection[Address],
) -> list[FirstTrade]:
    """Return the first pool of each token that has traded first in these blocks.

    Pools that one contract keeps are left out: transfers do not tell them apart.
    """
    rows = store.execute(
        _LAUNCHES,
        {"chain": chain_id, "first": first, "last": last, "address_chars": _ADDRESS_CHARS},
    ).fetchall()
    found: dict[Address, FirstTrade] = {}
    for pool, token0, token1, first_block, first_s in rows:
        token = Address(token1 if token0 in anchors else token0)
        one = FirstTrade(pool=Address(pool), token=token, first_block=first_block, first_s=first_s)
        found.setdefault(token, one)
    return [*found.values()]


def list_moves(
    store: duckdb.DuckDBPyConnection, trade: FirstTrade, *, chain_id: int
) -> list[PoolMove]:
    """Return who bought and sold a token in its pool, in order of the chain."""
    rows = store.execute(
        _MOVES,
        {
            "chain": chain_id,
            "pool": trade.pool,
            "token": trade.token,
            "first": trade.first_block,
        },
    ).fetchall()
    return [
        PoolMove(time_s=time_s, trader=Address(recipient if is_buy else sender), is_buy=is_buy)
        for time_s, sender, recipient, is_buy in rows
        if trade.token not in (sender, recipient)  # its own fees
    ]


def indexed_until(store: duckdb.DuckDBPyConnection, *, chain_id: int) -> int:
    """Return the time up to which the chain was followed, Unix seconds; 0: it was not."""
    times = [
        row[0]
        for statement in (_TIP, _LATEST)
        for row in store.execute(statement, {"chain": chain_id}).fetchall()
        if row[0] is not None
    ]
    return max(times, default=0)
