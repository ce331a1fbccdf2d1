-- name: find_store_id
-- One row: the random id of the store.
select store_id from store_identity where one = 1

-- name: list_chains
-- One row per followed chain: its tip, rows, tokens due for an analysis at $now_s (Unix
-- seconds), and tokens whose transfers are stored from the first one on.
select
    checkpoint.chain_id,
    checkpoint.number as tip,
    (select count(*) from pool where pool.chain_id = checkpoint.chain_id) as pools,
    (select count(*) from transfer where transfer.chain_id = checkpoint.chain_id) + (
        select count(*)
        from batch
        join final_transfer on final_transfer.batch = batch.batch
        where batch.chain_id = checkpoint.chain_id
    ) as transfers,
    (
        select count(*)
        from task
        where
            task.kind = 'refresh' and task.chain_id = checkpoint.chain_id
            and (task.is_due = 1 or task.due_s <= $now_s)
    ) as queue,
    (
        select count(*)
        from history
        join token on token.token_id = history.token_id
        where token.chain_id = checkpoint.chain_id and history.is_whole = 1
    ) as whole_histories
from checkpoint
where checkpoint.stream = 'follow'
order by checkpoint.chain_id
