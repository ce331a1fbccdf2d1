-- name: answer_inquiry
-- One row if $holder still had $inquiry, which is answered now.
update inquiry set answer = $answer, holder = null, expires_at = null
where inquiry = $inquiry and holder = $holder
returning inquiry

-- name: ask_inquiry
-- One row: the number of a new inquiry about $chain_id, whose caller waits $within_s seconds.
-- None: $at_most inquiries about the chain are waiting.
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
-- Deletes $inquiry, whose caller no longer waits.
delete from inquiry where inquiry = $inquiry

-- name: delete_old
-- Deletes inquiries of callers that ended without deleting them, after $kept_s seconds.
delete from inquiry where until < clock_timestamp() - make_interval(secs => $kept_s)

-- name: give_back_inquiries
-- Releases the inquiries of $holder, which ends; other processes continue.
update inquiry set holder = null, expires_at = null where holder = $holder and answer is null

-- name: list_answers
-- One row per answered inquiry of $inquiries.
select inquiry, answer from inquiry where inquiry = any($inquiries::bigint[]) and answer is not null

-- name: renew_inquiries
-- One row per inquiry of $inquiries that $holder still has, renewed for $lease_s seconds.
update inquiry set expires_at = clock_timestamp() + make_interval(secs => $lease_s)
where inquiry = any($inquiries::bigint[]) and holder = $holder
returning inquiry

-- name: take_inquiries
-- One row per inquiry that $holder begins: as many of each chain of $chain_ids as in $free, the
-- longest waiting of $kinds that no process works on and that lost fewer than $at_most
-- processes. left_s: remaining seconds of the caller's wait.
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
