-- Removes the gate's last no for $token_id.
delete from refusal where token_id = $token_id
