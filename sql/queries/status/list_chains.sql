-- One row per chain that was ever followed: our tip, rows, tokens with a pool still to
-- judge, and tokens whose transfers are stored from the first on.
select
    checkpoint.chain_id,
    checkpoint.number as tip,
    (select count(*) from pool where pool.chain_id = checkpoint.chain_id) as pools,
    (select count(*) from transfer where transfer.chain_id = checkpoint.chain_id) as transfers,
    (
        select count(*)
        from token
        left join report on report.token_id = token.token_id
        left join refusal on refusal.token_id = token.token_id
        where
            token.chain_id = checkpoint.chain_id
            and token.tracked_because = 'pool'
            and report.token_id is null
            and refusal.token_id is null
    ) as queue,
    (
        select count(*)
        from v_histories
        where v_histories.chain = checkpoint.chain_id and v_histories.is_whole
    ) as whole_histories
from checkpoint
where checkpoint.stream = 'follow'
order by checkpoint.chain_id
