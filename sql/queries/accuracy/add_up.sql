-- Adds the counts of the final blocks of $chain_id, those up to $final, to those of their days.
insert into accuracy_count (
    chain_id, day_s, block_number, dex, flag, age, agreed, disagreed, explained, uncounted
)
select
    chain_id, day_s, -1, dex, flag, age, sum(agreed), sum(disagreed), sum(explained), sum(uncounted)
from accuracy_count
where chain_id = $chain_id and block_number >= 0 and block_number <= $final
group by chain_id, day_s, dex, flag, age
on conflict (chain_id, day_s, block_number, dex, flag, age) do update set
    agreed = accuracy_count.agreed + excluded.agreed,
    disagreed = accuracy_count.disagreed + excluded.disagreed,
    explained = accuracy_count.explained + excluded.explained,
    uncounted = accuracy_count.uncounted + excluded.uncounted
