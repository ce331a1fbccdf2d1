-- Writes the trades of a batch; $scan reads their pools of the serving state.
insert into lake.trade
select
    $batch, $chain_id, f.block_number, f.log_index, f.time_s, f.pool_no, '0x' || p.pool_key, p.dex,
    p.kind, '0x' || p.token0, '0x' || p.token1, f.amount0, f.amount1
from serving.final_trade f
left join serving_rows($scan) p on p.pool_no::integer = f.pool_no
where f.batch = $batch
order by p.pool_key, f.block_number, f.log_index
