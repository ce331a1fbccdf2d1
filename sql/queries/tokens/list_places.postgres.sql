-- As for SQLite: addresses one after another, and hex of the id and the first block of each.
select
    string_agg(address, ''::bytea order by token_id),
    string_agg(
        lpad(to_hex(token_id), 16, '0') || lpad(to_hex(first_seen_block), 16, '0'), ''
        order by token_id
    )
from (
    select token_id, address, first_seen_block
    from token
    where token_id > $above and chain_id = $chain_id
    order by token_id
    limit $at_most
) as next_tokens
