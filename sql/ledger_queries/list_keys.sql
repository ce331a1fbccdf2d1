-- One row per key, oldest first.
select key_id, digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator
from api_key
order by key_id
