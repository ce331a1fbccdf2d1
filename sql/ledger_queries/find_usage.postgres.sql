-- One row: a JSON array of {key_id, lifetime, day, month}, the calls of each key of the JSON array
-- :key_ids that has any, in all, on :day and in :month.
select
    coalesce(
        json_agg(
            json_build_object('key_id', key_id, 'lifetime', lifetime, 'day', day, 'month', month)
        ),
        '[]'
    )::text as found
from (
    select
        key_id,
        coalesce(sum(calls) filter (where period = 'all'), 0) as lifetime,
        coalesce(sum(calls) filter (where period = :day), 0) as day,
        coalesce(sum(calls) filter (where period = :month), 0) as month
    from usage
    where
        key_id in (select jsonb_array_elements_text((:key_ids)::jsonb)::bigint)
        and period in ('all', :day, :month)
    group by key_id
) as counted
