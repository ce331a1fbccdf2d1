-- One row: how many accounts of $chain_id got their first coins from $funder, $at_most counted.
select count(*) as accounts
from (
    select account from funder
    where chain_id = $chain_id and funder = $funder
    limit $at_most
) as known
