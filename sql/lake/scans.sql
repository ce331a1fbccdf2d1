-- name: launches
-- One row per launch of chain {chain_id} from block {from_block} to {to_block}, as text.
select
    lower(hex(token)) as token, slug, lower(hex(emitter)) as emitter,
    lower(hex(creator)) as creator, creator is null as has_no_creator,
    lower(hex(tx_hash)) as tx_hash, tx_hash is null as has_no_tx, block_number, log_index
from launch
where chain_id = {chain_id} and block_number between {from_block} and {to_block}

-- name: launches postgres
-- One row per launch of chain {chain_id} from block {from_block} to {to_block}, as text.
select
    encode(token, 'hex') as token, slug, encode(emitter, 'hex') as emitter,
    encode(creator, 'hex') as creator, (creator is null)::integer::text as has_no_creator,
    encode(tx_hash, 'hex') as tx_hash, (tx_hash is null)::integer::text as has_no_tx, block_number, log_index
from launch
where chain_id = {chain_id} and block_number between {from_block} and {to_block}

-- name: new_pools
-- One row per pool of chain {chain_id} with a number above {above} and up to {to}, as text.
select
    pool_no, lower(hex(pool_key)) as pool_key, lower(hex(pool)) as pool,
    lower(hex(pool_id)) as pool_id, pool_id is null as has_no_id, dex, kind, variant,
    lower(hex(factory)) as factory, lower(hex(token0)) as token0, lower(hex(token1)) as token1,
    fee, tick_spacing, stable, lower(hex(hooks)) as hooks, hooks is null as has_no_hooks,
    block_number, log_index
from pool
where chain_id = {chain_id} and pool_no > {above} and pool_no <= {to}
order by pool_no

-- name: new_pools postgres
-- One row per pool of chain {chain_id} with a number above {above} and up to {to}, as text.
select
    pool_no, encode(pool_key, 'hex') as pool_key, encode(pool, 'hex') as pool,
    encode(pool_id, 'hex') as pool_id, (pool_id is null)::integer::text as has_no_id, dex, kind, variant,
    encode(factory, 'hex') as factory, encode(token0, 'hex') as token0, encode(token1, 'hex') as token1,
    fee, tick_spacing, stable, encode(hooks, 'hex') as hooks, (hooks is null)::integer::text as has_no_hooks,
    block_number, log_index
from pool
where chain_id = {chain_id} and pool_no > {above} and pool_no <= {to}
order by pool_no

-- name: pools
-- One row per pool with trades in batch {batch}, as text. SQLite runs it itself, as for tokens.
select
    pool_no, lower(hex(pool_key)) as pool_key, dex, kind,
    lower(hex(token0)) as token0, lower(hex(token1)) as token1
from pool
where pool_no in (select pool_no from final_trade where batch = {batch})

-- name: pools postgres
-- One row per pool with trades in batch {batch}, as text. PostgreSQL runs it itself, as for
-- tokens.
select
    pool_no, encode(pool_key, 'hex') as pool_key, dex, kind,
    encode(token0, 'hex') as token0, encode(token1, 'hex') as token1
from pool
where pool_no in (select pool_no from final_trade where batch = {batch})

-- name: tokens
-- One row per token of batch {batch}, as text. SQLite runs it itself and finds each token by its
-- key, where DuckDB would read the whole table of tokens.
select token_id, lower(hex(address)) as address
from token
where token_id in (select token_id from final_transfer where batch = {batch})

-- name: tokens postgres
-- One row per token of batch {batch}, as text. PostgreSQL runs it itself and finds each token by its
-- key, where DuckDB would read the whole table of tokens.
select token_id, encode(address, 'hex') as address
from token
where token_id in (select token_id from final_transfer where batch = {batch})
