-- Counts one attempt of :network in the minute :minute; beyond :enough of them it stays as it is.
insert into attempt (network, minute, attempts)
values (:network, :minute, 1)
on conflict (network, minute) do update set attempts = attempt.attempts + 1
where attempt.attempts < :enough
