-- One row per disagreement of the token $token_id that no later report has settled.
select
    disagreement_id, chain_id, block_number, block_time_s, token_id, tx_hash, log_index, trader, pool,
    dex, flag, age, report_block, predicted, observed, is_certain, has_clock, settled_block, explanation
from disagreement
where token_id = $token_id and block_number >= 0 and settled_block is null
