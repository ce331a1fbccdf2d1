-- One row: the calls of :key_id in all, on :day and in :month.
select
    coalesce(sum(calls) filter (where period = 'all'), 0) as lifetime,
    coalesce(sum(calls) filter (where period = :day), 0) as day,
    coalesce(sum(calls) filter (where period = :month), 0) as month
from usage
where key_id = :key_id and period in ('all', :day, :month)
order by lifetime
