-- One row, or none: who gave $account on $chain_id its first coins.
select chain_id, account, funder, block_number, tx_hash
from funder
where chain_id = $chain_id and account = $account
