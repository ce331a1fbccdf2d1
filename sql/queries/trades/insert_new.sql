-- One new row per row of incoming_trade (the columns of trade; emitter; kinds: those of pools whose
-- swaps look so) that is not stored yet and whose pool is known, is of that kind, is the emitter's,
-- and has an anchor ($anchors) on one side only.
insert into trade (
    chain_id, block_number, log_index, time_s, pool_key, amount0, amount1
)
select
    incoming.chain_id, incoming.block_number, incoming.log_index, incoming.time_s,
    incoming.pool_key, incoming.amount0, incoming.amount1
from incoming_trade incoming
join pool
    on pool.pool_key = incoming.pool_key and pool.chain_id = incoming.chain_id
    and pool.pool = incoming.emitter and list_contains(incoming.kinds, pool.kind)
where
    list_contains($anchors, pool.token0) <> list_contains($anchors, pool.token1)
    and not exists (
        select 1 from trade known
        where
            known.chain_id = incoming.chain_id and known.block_number = incoming.block_number
            and known.log_index = incoming.log_index
    )
order by incoming.block_number, incoming.log_index
