-- One row per disagreement on $chain_id that a report of the block $number or above settled.
select
    disagreement_id, chain_id, block_number, block_time_s, token_id, tx_hash, log_index, trader, pool,
    dex, flag, age, report_block, predicted, observed, is_certain, has_clock, settled_block, explanation
from disagreement
where chain_id = $chain_id and settled_block >= $number
