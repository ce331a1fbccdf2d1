-- One row per chain: the lowest block that was held, below which nothing can be reorganised away;
-- for a chain without one, its highest checkpoint.
select checkpoint.chain_id, coalesce(min(block.number), max(checkpoint.number)) as final
from checkpoint
left join block on block.chain_id = checkpoint.chain_id
group by checkpoint.chain_id
order by checkpoint.chain_id
