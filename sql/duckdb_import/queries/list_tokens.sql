-- One row per tracked token, with the head at which somebody first asked for it.
select
    token.rowid, token.token_id, token.chain_id, token.address, token.tracked_because,
    token.first_seen_block, token.transfers_from_block, request.block_number
from token
left join request on request.chain_id = token.chain_id and request.address = token.address
where token.rowid > $above and token.rowid <= $up_to
order by token.rowid
