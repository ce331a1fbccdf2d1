-- name: delete_history
-- Deletes the progress of fetching the history of the token $token_id.
delete from history where token_id = $token_id

-- name: find_due
-- One row, or none: the missing part of the history of the token $token_id, which has a report.
-- Until the follower has stored the token, its transfers start above all blocks.
select
    token.token_id,
    token.address,
    coalesce(token.transfers_from_block, 9223372036854775807) as transfers_from_block,
    report.supply_raw,
    coalesce(history.requests, 0) as requests,
    coalesce(history.logs, 0) as logs
from token
join report on report.token_id = token.token_id
left join history on history.token_id = token.token_id
where
    token.token_id = $token_id
    and (token.transfers_from_block is null or token.transfers_from_block <> 0)
    and coalesce(history.is_whole, 0) = 0

-- name: find_history
-- One row, or none: the progress of fetching the history of the token $token_id.
select is_whole, requests, logs from history where token_id = $token_id
