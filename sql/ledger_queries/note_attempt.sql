-- Counts one attempt of :network in the minute :minute.
insert into attempt (network, minute, attempts)
values (:network, :minute, 1)
on conflict (network, minute) do update set attempts = attempts + 1
