-- One row per token of $chain_id with a report whose past is still to be fetched, within $most_logs
-- and $most_requests, and is final: $finality_blocks below what the follow stream has come to. Those
-- that somebody asked for come first, then those that cost the least so far.
select
    token.token_id,
    token.address,
    token.transfers_from_block,
    report.supply_raw,
    coalesce(history.requests, 0) as requests,
    coalesce(history.logs, 0) as logs
from token
join report on report.token_id = token.token_id
join checkpoint on checkpoint.chain_id = token.chain_id and checkpoint.stream = $stream
left join history on history.token_id = token.token_id
where
    token.chain_id = $chain_id
    and token.transfers_from_block between 1 and checkpoint.number - $finality_blocks + 1
    and not coalesce(history.is_whole, false)
    and coalesce(history.logs, 0) < $most_logs
    and coalesce(history.requests, 0) < $most_requests
order by
    exists (
        select 1 from request
        where request.address = token.address and request.chain_id = token.chain_id
    ) desc,
    coalesce(history.requests, 0),
    report.scanned_at_s desc,
    token.token_id
limit $at_most
