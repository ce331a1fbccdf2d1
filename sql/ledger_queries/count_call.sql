-- One row: the calls of :key_id in all, on :day and in :month, this one included.
insert into usage (key_id, lifetime, day, day_calls, month, month_calls)
values (:key_id, 1, :day, 1, :month, 1)
on conflict (key_id) do update set
    lifetime = lifetime + 1,
    day_calls = case when day = :day then day_calls + 1 else 1 end,
    day = :day,
    month_calls = case when month = :month then month_calls + 1 else 1 end,
    month = :month
returning lifetime, day_calls as day, month_calls as month
