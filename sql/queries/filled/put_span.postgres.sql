-- As for SQLite.
insert into filled_span (token_id, stream, from_block, to_block)
select token_id, ?, greatest(?, first_seen_block), ?
from token
where token_id = ?
on conflict (token_id, stream) do update set
    to_block = greatest(filled_span.to_block, excluded.to_block)
