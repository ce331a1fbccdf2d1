-- One row, or none: a key of :account_id that is an operator's, and live at :now_s.
select api_key.key_id
from account_key
join api_key on api_key.key_id = account_key.key_id
where
    account_key.account_id = :account_id
    and api_key.is_operator = 1
    and api_key.revoked_at_s is null
    and coalesce(api_key.expires_at_s > :now_s, true)
order by api_key.key_id
limit 1
