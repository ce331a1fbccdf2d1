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
