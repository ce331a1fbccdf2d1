-- Adds to the counts what :batch says: a JSON array of [key_id, period, calls].
insert into usage (key_id, period, calls)
select json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]')
from json_each(:batch)
where true
on conflict (key_id, period) do update set calls = calls + excluded.calls
