-- Adds :calls of :key_id to what is counted for :period.
insert into usage (key_id, period, calls)
values (:key_id, :period, :calls)
on conflict (key_id, period) do update set calls = calls + :calls
