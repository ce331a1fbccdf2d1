-- The analysis of the token at an address of a chain is due at once, unless it has a time already.
insert into task (kind, token_id, chain_id, worth, due_s, is_due)
select 'refresh', token_id, chain_id, ?, 0, 0
from token
where chain_id = ? and address = ?
on conflict do nothing
