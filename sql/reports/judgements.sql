-- name: find_catalogue
-- One row, or none: the set of checks of a policy with these keys.
select catalogue_id from check_catalogue where policy = $policy and keys = $keys

-- name: insert_catalogue
-- Stores the set of checks of a policy.
insert into check_catalogue (policy, keys, severities, labels)
values ($policy, $keys, $severities, $labels)
on conflict do nothing

-- name: list_without_verdict
-- One row per report of the tokens after $done: its packed body, and the policy of its verdict;
-- null: it has none.
select report_body.token_id, report_body.body, check_catalogue.policy
from report_body
left join judgement on judgement.token_id = report_body.token_id
left join check_catalogue on check_catalogue.catalogue_id = judgement.catalogue_id
where report_body.token_id > $done
order by report_body.token_id
limit $at_most
