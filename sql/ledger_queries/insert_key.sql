-- One new key; gives it back with its number.
insert into api_key (digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator)
values (:digest, :plan, :label, :created_at_s, :expires_at_s, null, :is_operator)
returning key_id, digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator
