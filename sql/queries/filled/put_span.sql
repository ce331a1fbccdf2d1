-- A back-fill, by stream, first and last block, has stored the transfers of a token, by id: from the
-- first block on, or from where the token was first seen if later, or from where it began before.
insert into filled_span (token_id, stream, from_block, to_block)
select token_id, ?, max(?, first_seen_block), ?
from token
where token_id = ?
on conflict (token_id, stream) do update set to_block = max(to_block, excluded.to_block)
