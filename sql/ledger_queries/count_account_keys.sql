-- One row: how many keys of :account_id are live at :now_s, how many were made after :since_s, and
-- when the oldest of these was.
select
    count(*) filter (
        where api_key.revoked_at_s is null and coalesce(api_key.expires_at_s > :now_s, true)
    ) as live,
    count(*) filter (where api_key.created_at_s > :since_s) as recent,
    min(api_key.created_at_s) filter (where api_key.created_at_s > :since_s) as oldest_recent_s
from account_key
join api_key on api_key.key_id = account_key.key_id
where account_key.account_id = :account_id
order by live
