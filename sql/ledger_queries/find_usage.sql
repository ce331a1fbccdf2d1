-- One row, or none: the calls of :key_id in all, on :day and in :month.
select
    lifetime,
    case when day = :day then day_calls else 0 end as day,
    case when month = :month then month_calls else 0 end as month
from usage
where key_id = :key_id
order by key_id
limit 1
