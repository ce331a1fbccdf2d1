-- One row for each of the newest $at_most observations of the token $token_id in blocks above $above and
-- up to $up_to, newest first.
select
    observation_id, chain_id, block_number, block_time_s, token_id, kind, tx_hash, sender, what, detail
from observation
where token_id = $token_id and block_number > $above and block_number <= $up_to
order by block_number desc, observation_id desc
limit $at_most
