-- name: count_powers_used
-- One row: 1 if the token $token_id is watched, or has been, else 0; and, among its $at_most newest
-- observations up to the block $up_to, the calls by its owner and the events of its parameters and
-- ownership.
select
    case
        when exists (select 1 from watch_token where watch_token.token_id = $token_id) then 1
        when count(*) > 0 then 1
        else 0
    end as is_watched,
    coalesce(
        sum(
            case when kind in ('owner_call', 'parameter_event', 'ownership_event') then 1 else 0 end
        ),
        0
    ) as used
from (
    select kind
    from observation
    where token_id = $token_id and block_number <= $up_to
    order by block_number desc
    limit $at_most
) known

-- name: delete_from
-- Deletes the observations on $chain_id from the block $number on.
delete from observation where chain_id = $chain_id and block_number >= $number

-- name: delete_of_token
-- Deletes the observations about the token $token_id.
delete from observation where token_id = $token_id

-- name: delete_old
-- Deletes those of the $at_most oldest observations of a chain that are in blocks before
-- $before_s. The inner limit bounds the rows it reads.
delete from observation
where observation_id in (
    select observation_id
    from (
        select observation_id, block_time_s
        from observation
        where chain_id = $chain_id and block_number >= 0
        order by block_number
        limit $at_most
    ) known
    where block_time_s < $before_s
)

-- name: find_earliest_after
-- One row: the time of the first block above $above with an observation about the token
-- $token_id; NULL if there is none.
select min(block_time_s) as time_s
from observation
where token_id = $token_id and block_number > $above

-- name: find_newest
-- One row: the block of the newest observation about the token $token_id; NULL if there is none.
select max(block_number) as block_number from observation where token_id = $token_id

-- name: find_report_block
-- One row, or none: the block of the report of the token $token_id.
select block_number from report where token_id = $token_id

-- name: insert_gap
-- Stores an observation for each watched token of $chain_id with a report before block $first:
-- the blocks up to $last were not read one by one. Skips tokens with such an observation after
-- their report.
insert into observation (chain_id, block_number, block_time_s, token_id, kind, what)
select $chain_id, $last, $time_s, report.token_id, 'gap', $what
from (
    select distinct watch_token.token_id
    from watch_token
    join watch on watch.id = watch_token.watch_id
    where watch.is_paused = 0
) wanted
join report on report.token_id = wanted.token_id
where
    report.chain_id = $chain_id
    and report.block_number < $first
    and not exists (
        select 1 from observation known
        where
            known.token_id = report.token_id
            and known.block_number > report.block_number
            and known.kind = 'gap'
    )
returning token_id

-- name: list_causes
-- One row per observation among the newest $at_most about the token $token_id in blocks above
-- $above up to $up_to, newest first.
select
    observation_id, chain_id, block_number, block_time_s, token_id, kind, tx_hash, sender, what, detail
from observation
where token_id = $token_id and block_number > $above and block_number <= $up_to
order by block_number desc, observation_id desc
limit $at_most
