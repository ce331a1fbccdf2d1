-- name: delete_from
-- Deletes the pools of $chain_id created at or above $number; their sides are deleted before.
delete from pool where chain_id = $chain_id and block_number >= $number

-- name: delete_side
-- Deletes one side of a pool.
delete from pool_side
where chain_id = ? and token = ? and block_number = ? and log_index = ? and pool_no = ?

-- name: find_first_block
-- One row: the block of the oldest pool of the token $token on $chain_id; NULL if there is none.
select min(block_number) as block_number
from pool_side
where chain_id = $chain_id and token = $token

-- name: find_later
-- One row, or none: the pool $pool_key of $chain_id, if it was announced after log $log_index of
-- block $block_number, with its tokens and place.
select pool_no, token0, token1, block_number, log_index
from pool
where
    chain_id = $chain_id
    and pool_key = $pool_key
    and (block_number, log_index) > ($block_number, $log_index)

-- name: find_newest
-- One row: the highest number of a pool of any chain; 0 if there is none.
select coalesce(max(pool_no), 0) from pool

-- name: insert_first_sides
-- Stores the side of token0 of each pool with a number above $above.
insert into pool_side (chain_id, token, block_number, log_index, pool_no, other)
select chain_id, token0, block_number, log_index, pool_no, token1
from pool
where pool_no > $above

-- name: insert_first_sides postgres
-- As for SQLite, of the chain $chain_id only: writers of other chains may store pools
-- concurrently.
insert into pool_side (chain_id, token, block_number, log_index, pool_no, other)
select chain_id, token0, block_number, log_index, pool_no, token1
from pool
where pool_no > $above and chain_id = $chain_id

-- name: insert_pool
-- Stores one pool unless its key is stored.
insert into pool (
    chain_id, pool_key, pool, pool_id, dex, kind, variant, factory, token0, token1, fee,
    tick_spacing, stable, hooks, block_number, log_index
)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing

-- name: insert_second_sides
-- Stores the side of token1 of each pool with a number above $above, unless both sides are the
-- same token.
insert into pool_side (chain_id, token, block_number, log_index, pool_no, other)
select chain_id, token1, block_number, log_index, pool_no, token0
from pool
where pool_no > $above and token1 <> token0

-- name: insert_second_sides postgres
-- As for SQLite, of the chain $chain_id only: writers of other chains may store pools
-- concurrently.
insert into pool_side (chain_id, token, block_number, log_index, pool_no, other)
select chain_id, token1, block_number, log_index, pool_no, token0
from pool
where pool_no > $above and chain_id = $chain_id and token1 <> token0

-- name: insert_side
-- Stores one side of a pool.
insert into pool_side (chain_id, token, block_number, log_index, pool_no, other)
values (?, ?, ?, ?, ?, ?)

-- name: list_by_key
-- One row per pool of $chain_id with one of the keys $pool_keys (a JSON array of hex): the parts
-- that swaps are checked against.
select pool_key, pool_no, pool, kind, dex, token0, token1, block_number, log_index
from pool
where chain_id = $chain_id and pool_key in (select from_hex(value) from json_each($pool_keys))

-- name: list_by_key postgres
-- As for SQLite.
select pool_key, pool_no, pool, kind, dex, token0, token1, block_number, log_index
from pool
where
    chain_id = $chain_id
    and pool_key = any (
        array(select decode(value, 'hex') from jsonb_array_elements_text($pool_keys::jsonb) as value)
    )

-- name: list_first_beside
-- One row per pool among the first $at_most of the token $token on $chain_id whose other side is
-- none of $others (a JSON array of hex), in order of creation.
select
    pool.chain_id, pool.pool_key, pool.pool, pool.pool_id, pool.dex, pool.kind, pool.variant,
    pool.factory, pool.token0, pool.token1, pool.fee, pool.tick_spacing, pool.stable, pool.hooks,
    pool.block_number, pool.log_index
from pool_side not indexed
join pool on pool.pool_no = pool_side.pool_no
where
    pool_side.chain_id = $chain_id and pool_side.token = $token
    and pool_side.other not in (select from_hex(value) from json_each($others))
order by pool_side.block_number, pool_side.log_index
limit $at_most

-- name: list_first_beside postgres
-- As for SQLite.
select
    pool.chain_id, pool.pool_key, pool.pool, pool.pool_id, pool.dex, pool.kind, pool.variant,
    pool.factory, pool.token0, pool.token1, pool.fee, pool.tick_spacing, pool.stable, pool.hooks,
    pool.block_number, pool.log_index
from pool_side
join pool on pool.pool_no = pool_side.pool_no
where
    pool_side.chain_id = $chain_id and pool_side.token = $token
    and pool_side.other <> all (
        array(select decode(value, 'hex') from jsonb_array_elements_text($others::jsonb) as value)
    )
order by pool_side.block_number, pool_side.log_index
limit $at_most

-- name: list_from
-- One row per pool of $chain_id created at or above $number: its tokens and place.
select pool_no, token0, token1, block_number, log_index
from pool
where chain_id = $chain_id and block_number >= $number

-- name: list_of_token
-- One row per pool of the token $token on $chain_id, in order of creation. With $others (a JSON
-- array of hex) only those whose other side is one of them. With $at_most at most this many
-- pools per contract: half of them the oldest, half the newest.
with side as (
    select pool_no
    from pool_side
    where $others is null and chain_id = $chain_id and token = $token
    union all
    select pool_no
    from pool_side indexed by pool_side_by_other
    where
        chain_id = $chain_id and token = $token
        and other in (select from_hex(value) from json_each($others))
),
ranked as (
    select
        pool.*,
        row_number() over (
            partition by pool.pool order by pool.block_number, pool.log_index
        ) as from_first,
        row_number() over (
            partition by pool.pool order by pool.block_number desc, pool.log_index desc
        ) as from_last
    from side
    join pool on pool.pool_no = side.pool_no
)
select
    chain_id, pool_key, pool, pool_id, dex, kind, variant, factory, token0, token1, fee,
    tick_spacing, stable, hooks, block_number, log_index
from ranked
where $at_most is null or from_first <= $at_most - $at_most / 2 or from_last <= $at_most / 2
order by block_number, log_index

-- name: list_of_token postgres
-- As for SQLite.
with side as (
    select pool_no
    from pool_side
    where
        chain_id = $chain_id and token = $token
        and (
            $others::text is null
            or other = any (
                array(
                    select decode(value, 'hex')
                    from jsonb_array_elements_text($others::jsonb) as value
                )
            )
        )
),
ranked as (
    select
        pool.*,
        row_number() over (
            partition by pool.pool order by pool.block_number, pool.log_index
        ) as from_first,
        row_number() over (
            partition by pool.pool order by pool.block_number desc, pool.log_index desc
        ) as from_last
    from side
    join pool on pool.pool_no = side.pool_no
)
select
    chain_id, pool_key, pool, pool_id, dex, kind, variant, factory, token0, token1, fee,
    tick_spacing, stable, hooks, block_number, log_index
from ranked
where
    $at_most::bigint is null
    or from_first <= $at_most - $at_most / 2
    or from_last <= $at_most / 2
order by block_number, log_index

-- name: list_since
-- One row per pool of $chain_id that is a separate contract and was created at or above block
-- $number: the first bytes of its address, and the block.
select substr(pool, 1, 8), block_number
from pool
where chain_id = $chain_id and block_number >= $number and pool_id is null
order by block_number

-- name: move_pool
-- Updates a pool that is stored by a later event to the earlier one. Parameters are in the order
-- of its columns.
update pool set
    pool = ?3, pool_id = ?4, dex = ?5, kind = ?6, variant = ?7, factory = ?8, token0 = ?9,
    token1 = ?10, fee = ?11, tick_spacing = ?12, stable = ?13, hooks = ?14, block_number = ?15,
    log_index = ?16
where chain_id = ?1 and pool_key = ?2
