-- name: delete_of_token
-- Removes what back-fills have stored of the token $token_id, as far as it is known.
delete from filled_span where token_id = $token_id

-- name: list_of_token
-- One row per range of blocks of which a back-fill of $chain_id has stored the transfers of the token
-- $token_id: as far as the back-fill's checkpoint, which a reorg sets back.
select
    filled_span.from_block,
    case
        when filled_span.to_block < checkpoint.number then filled_span.to_block
        else checkpoint.number
    end as to_block
from filled_span
join checkpoint on checkpoint.chain_id = $chain_id and checkpoint.stream = filled_span.stream
where filled_span.token_id = $token_id

-- name: put_span
-- A back-fill, by stream, first and last block, has stored the transfers of a token, by id: from the
-- first block on, or from where the token was first seen if later, or from where it began before.
insert into filled_span (token_id, stream, from_block, to_block)
select token_id, ?, max(?, first_seen_block), ?
from token
where token_id = ?
on conflict (token_id, stream) do update set to_block = max(to_block, excluded.to_block)

-- name: put_span postgres
-- As for SQLite.
insert into filled_span (token_id, stream, from_block, to_block)
select token_id, ?, greatest(?, first_seen_block), ?
from token
where token_id = ?
on conflict (token_id, stream) do update set
    to_block = greatest(filled_span.to_block, excluded.to_block)
