-- One row, or none: the trial key that :network was given.
select
    api_key.key_id, api_key.digest, api_key.plan, api_key.label, api_key.created_at_s,
    api_key.expires_at_s, api_key.revoked_at_s, api_key.is_operator
from trial
join api_key on api_key.key_id = trial.key_id
where trial.network = :network
order by api_key.key_id
limit 1
