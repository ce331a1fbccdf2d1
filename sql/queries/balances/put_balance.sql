-- The balance under a key from now on.
insert into balance (key, value) values (?, ?)
on conflict (key) do update set value = excluded.value
