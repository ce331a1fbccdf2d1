-- One row, or none: the report on the token $address of $chain_id as JSON, packed by zstd.
select report_body.body
from token
join report_body on report_body.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address
