"""First trades of tokens and their later events, read from the views of analysts."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import duckdb

from core.evm.primitives import Address, HexBytes
from core.report.launch_events import FirstTrade, LaunchEvents, LaunchTrade, LaunchTransfer

_LAUNCHES: Final = """
with first as (
    select dex, pool_key as pool, token0, token1, min(block_number) as first_block,
        epoch(min(block_time))::bigint as first_s
    from v_trades
    where chain = $chain
    group by all
    having min(block_number) between $first and $last
)
select dex, pool, token0, token1, first_block, first_s from first order by first_block, pool
"""

_LAUNCHED: Final = """
with launched as (
    select
        unnest($tokens::varchar[]) as token, unnest($pools::varchar[]) as pool,
        unnest($firsts::bigint[]) as first_block, unnest($ends::bigint[]) as end_s
),
traded as (
    select
        launched.token, trade.block_number, trade.log_index,
        epoch(trade.block_time)::bigint as time_s,
        if(trade.token0 = launched.token, amount0_raw, amount1_raw) as token_in_raw,
        if(trade.token0 = launched.token, amount1_raw, amount0_raw) as quote_in_raw
    from launched
    join v_trades trade on
        trade.pool_key = launched.pool
        and trade.block_number >= launched.first_block
        and launched.token in (trade.token0, trade.token1)
    where trade.chain = $chain and epoch(trade.block_time) <= launched.end_s
)
"""

_TRADES: Final = (
    _LAUNCHED
    + """
select token, block_number, log_index, time_s, token_in_raw, quote_in_raw
from traded order by block_number, log_index
"""
)

_TRANSFERS: Final = (
    _LAUNCHED
    + """
select moved.token, moved.block_number, moved.log_index, moved.sender, moved.recipient,
    moved.amount_raw
from v_transfers moved
semi join traded on traded.token = moved.token and traded.block_number = moved.block_number
where moved.chain = $chain
order by moved.block_number, moved.log_index
"""
)

_TIP: Final = """
select epoch(max(block_time))::bigint from v_checkpoints where chain = $chain and stream = 'follow'
"""

_LATEST: Final = "select epoch(max(block_time))::bigint from v_trades where chain = $chain"

_ADDRESS_CHARS: Final = 42


def find_first_trades(
    store: duckdb.DuckDBPyConnection,
    *,
    chain_id: int,
    first: int,
    last: int,
    anchors: Collection[Address],
    holders: Mapping[str, Address],
) -> list[FirstTrade]:
    """Return the first pool of each token whose first trade is in these blocks.

    `holders`: the contract that holds all pools of an exchange, by the exchange's name. Pools with
    an id are left out if their exchange has none.
    """
    rows = store.execute(_LAUNCHES, {"chain": chain_id, "first": first, "last": last}).fetchall()
    found: dict[Address, FirstTrade] = {}
    for dex, pool, token0, token1, first_block, first_s in rows:
        holder = Address(pool) if len(pool) == _ADDRESS_CHARS else holders.get(dex)
        if holder is None:
            continue
        token = Address(token1 if token0 in anchors else token0)
        one = FirstTrade(
            pool=HexBytes(pool),
            holder=holder,
            token=token,
            first_block=first_block,
            first_s=first_s,
        )
        found.setdefault(token, one)
    return [*found.values()]


def read_launch_events(
    store: duckdb.DuckDBPyConnection,
    launches: Sequence[FirstTrade],
    *,
    chain_id: int,
    most_s: int,
) -> dict[Address, LaunchEvents]:
    """Return the stored events of each token's first `most_s` seconds, by token.

    These are the pool's trades, and the transfers in their blocks. Runs two statements for all
    tokens.
    """
    events = {one.token: LaunchEvents(trades=[], transfers=[]) for one in launches}
    given = {
        "chain": chain_id,
        "tokens": [one.token for one in launches],
        "pools": [one.pool for one in launches],
        "firsts": [one.first_block for one in launches],
        "ends": [one.first_s + most_s for one in launches],
    }
    for token, block_number, log_index, time_s, token_in_raw, quote_in_raw in store.execute(
        _TRADES, given
    ).fetchall():
        events[token].trades.append(
            LaunchTrade(
                block_number=block_number,
                log_index=log_index,
                time_s=time_s,
                token_in_raw=token_in_raw,
                quote_in_raw=quote_in_raw,
            )
        )
    for token, block_number, log_index, sender, recipient, amount_raw in store.execute(
        _TRANSFERS, given
    ).fetchall():
        events[token].transfers.append(
            LaunchTransfer(
                block_number=block_number,
                log_index=log_index,
                sender=Address(sender),
                recipient=Address(recipient),
                amount_raw=amount_raw,
            )
        )
    return events


def find_indexed_until(store: duckdb.DuckDBPyConnection, *, chain_id: int) -> int:
    """Return the Unix time up to which the chain was followed; 0 if it was not."""
    times = [
        row[0]
        for statement in (_TIP, _LATEST)
        for row in store.execute(statement, {"chain": chain_id}).fetchall()
        if row[0] is not None
    ]
    return max(times, default=0)
