-- One row per exchange, flag and age of reports: the counts of $chain_id since the day $from_s.
select
    dex,
    flag,
    age,
    cast(sum(agreed) as bigint) as agreed,
    cast(sum(disagreed) as bigint) as disagreed,
    cast(sum(explained) as bigint) as explained,
    cast(sum(uncounted) as bigint) as uncounted
from accuracy_count
where chain_id = $chain_id and day_s >= $from_s
group by dex, flag, age
