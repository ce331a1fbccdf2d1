-- name: answer_inquiry
-- One row if $holder still had $inquiry, which is answered with this.
update inquiry set answer = $answer, holder = null, expires_at = null
where inquiry = $inquiry and holder = $holder
returning inquiry

-- name: ask_inquiry
-- One row: the number of a new inquiry about $chain_id, whose asker waits $within_s seconds. None:
-- $at_most about the chain are waiting already.
insert into inquiry (chain_id, kind, question, until)
select $chain_id, $kind, $question, clock_timestamp() + make_interval(secs => $within_s)
where (
    select count(*) from (
        select 1 from inquiry
        where chain_id = $chain_id and answer is null and until > clock_timestamp()
        limit $at_most
    ) as waiting
) < $at_most
returning inquiry

-- name: delete_inquiry
-- Deletes $inquiry: its asker waits no longer.
delete from inquiry where inquiry = $inquiry

-- name: delete_old
-- Deletes what askers have left that ended before they could: after $kept_s seconds.
delete from inquiry where until < clock_timestamp() - make_interval(secs => $kept_s)

-- name: give_back_inquiries
-- Gives back what $holder, which ends, has begun; other processes go on with it.
update inquiry set holder = null, expires_at = null where holder = $holder and answer is null

-- name: list_answers
-- One row for each of $inquiries that is answered.
select inquiry, answer from inquiry where inquiry = any($inquiries::bigint[]) and answer is not null

-- name: renew_inquiries
-- One row for each of $inquiries that $holder still has, now for $lease_s seconds more.
update inquiry set expires_at = clock_timestamp() + make_interval(secs => $lease_s)
where inquiry = any($inquiries::bigint[]) and holder = $holder
returning inquiry

-- name: take_inquiries
-- One row for each inquiry that $holder begins with this: of each of the chains $chain_ids as many as
-- $free says, those of $kinds waiting longest that nobody works on, and that have ended fewer than
-- $at_most processes. left_s: for how long its asker still waits.
with due as materialized (
    select waiting.inquiry
    from unnest($chain_ids::bigint[], $free::bigint[]) as mine (chain_id, free)
    cross join lateral (
        select inquiry from inquiry
        where chain_id = mine.chain_id and answer is null and until > clock_timestamp()
            and kind = any($kinds::text[])
            and (holder is null or expires_at < clock_timestamp())
            and deaths + (holder is not null)::int < $at_most
        order by inquiry
        limit mine.free
        for update skip locked
    ) as waiting
)
update inquiry as known set
    holder = $holder,
    expires_at = clock_timestamp() + make_interval(secs => $lease_s),
    deaths = known.deaths + (known.holder is not null)::int
from due
where known.inquiry = due.inquiry
returning
    known.inquiry, known.chain_id, known.question,
    extract(epoch from known.until - clock_timestamp())::double precision as left_s
