-- One row, or none: the token $address of $chain_id, if it has a report.
select
    report.chain_id, report.address, report.name, report.symbol, report.block_hash,
    report.scanned_at_s, search_entry.usd
from token
join report on report.token_id = token.token_id
join search_entry on search_entry.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address
