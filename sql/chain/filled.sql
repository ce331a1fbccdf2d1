-- name: delete_of_token
-- Deletes the spans of the token $token_id that back-fills have stored.
delete from filled_span where token_id = $token_id

-- name: list_of_token
-- One row per span of blocks whose transfers of the token $token_id a back-fill of $chain_id has
-- stored, up to the back-fill's checkpoint, which a reorg sets back.
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
-- Records the span of a back-fill, by stream, first and last block, for a token, by id: from the
-- first block, or from the token's first block if later, or from the start of its span.
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
