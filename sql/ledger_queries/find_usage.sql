-- One row: a JSON array of {key_id, lifetime, day, month}, the calls of each key of the JSON array
-- :key_ids that has any, in all, on :day and in :month.
select
    json_group_array(
        json_object('key_id', key_id, 'lifetime', lifetime, 'day', day, 'month', month)
    ) as found
from (
    select
        key_id,
        sum(calls) filter (where period = 'all') as lifetime,
        coalesce(sum(calls) filter (where period = :day), 0) as day,
        coalesce(sum(calls) filter (where period = :month), 0) as month
    from usage
    where key_id in (select value from json_each(:key_ids)) and period in ('all', :day, :month)
    group by key_id
)
order by found
