-- Adds to the counts what :batch says: a JSON array of [key_id, period, calls].
insert into usage (key_id, period, calls)
select (entry ->> 0)::bigint, entry ->> 1, sum((entry ->> 2)::bigint)
from jsonb_array_elements((:batch)::jsonb) as entry
group by 1, 2
on conflict (key_id, period) do update set calls = usage.calls + excluded.calls
