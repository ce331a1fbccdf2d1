-- One row per token with a pool or a launch on $chain_id that was never judged, whose report is unsettled, or
-- whose report or refusal is from $before_s or earlier. The three kinds take turns, so that none
-- waits for another's queue; within the first the newest token comes first, else the oldest answer.
with answered as (
    select
        token.token_id, token.chain_id, token.address, token.tracked_because,
        token.first_seen_block, token.transfers_from_block,
        coalesce(report.is_settled, refusal.token_id is not null) as is_settled,
        coalesce(report.scanned_at_s, refusal.refused_at_s) as answered_at_s
    from token
    left join report on report.token_id = token.token_id
    left join refusal on refusal.token_id = token.token_id
    where token.chain_id = $chain_id and token.tracked_because <> 'request'
),
due as (
    select
        *,
        case when answered_at_s is null then 0 when not is_settled then 1 else 2 end as kind
    from answered
    where answered_at_s is null or not is_settled or answered_at_s <= $before_s
),
ranked as (
    select
        *,
        row_number() over (
            partition by kind order by coalesce(answered_at_s, -first_seen_block), token_id
        ) as turn
    from due
)
select token_id, chain_id, address, tracked_because, first_seen_block, transfers_from_block
from ranked
order by turn, kind
limit $at_most
