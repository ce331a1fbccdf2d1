-- One row, or none: what kin of the token $address of $chain_id are looked up by, if it has a report.
select report.token_id, report.symbol, report.creator_address as creator
from token
join report on report.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address
