-- Adds the checks that a policy judges by.
insert into check_catalogue (policy, keys, severities, labels)
values ($policy, $keys, $severities, $labels)
on conflict do nothing
