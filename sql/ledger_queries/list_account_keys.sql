-- One row per key of :account_id: those that are live at :now_s first, each kind newest first.
select
    api_key.key_id, api_key.digest, api_key.plan, api_key.label, api_key.created_at_s,
    api_key.expires_at_s, api_key.revoked_at_s, api_key.is_operator, account_key.prefix
from account_key
join api_key on api_key.key_id = account_key.key_id
where account_key.account_id = :account_id
order by
    api_key.revoked_at_s is null and coalesce(api_key.expires_at_s > :now_s, true) desc,
    api_key.key_id desc
limit :at_most
