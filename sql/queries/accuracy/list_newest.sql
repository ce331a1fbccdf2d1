-- One row for each of the newest $at_most disagreements on $chain_id, newest first.
select
    disagreement.disagreement_id,
    token.address as token,
    disagreement.block_number,
    disagreement.block_time_s,
    disagreement.tx_hash,
    disagreement.trader,
    disagreement.pool,
    disagreement.dex,
    disagreement.flag,
    disagreement.report_block,
    disagreement.predicted,
    disagreement.observed,
    disagreement.is_certain,
    disagreement.explanation
from disagreement
cross join token on token.token_id = disagreement.token_id
where disagreement.chain_id = $chain_id and disagreement.block_number >= 0
order by disagreement.block_number desc
limit $at_most
