-- One row, or none: the key :key_id of :account_id, revoked at :revoked_at_s just now.
update api_key
set revoked_at_s = :revoked_at_s
where
    key_id = :key_id
    and revoked_at_s is null
    and exists (
        select 1 from account_key
        where account_key.key_id = api_key.key_id and account_key.account_id = :account_id
    )
returning key_id, digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator
