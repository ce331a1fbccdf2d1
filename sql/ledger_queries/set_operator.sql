-- One row, or none: the key :key_id, which is live at :now_s, and an operator's from now on if :is_operator.
update api_key
set is_operator = :is_operator
where
    key_id = :key_id
    and revoked_at_s is null
    and coalesce(expires_at_s > :now_s, true)
returning key_id, digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator
