-- One row, or none: the key with the digest :digest.
select key_id, digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator
from api_key
where digest = :digest
order by key_id
limit 1
