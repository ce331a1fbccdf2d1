-- One row for the first $at_most tracked tokens of $chain_id with an id above $above: their addresses
-- one after another, and hex of the id and the first block of each (8 bytes each). A row for each
-- token takes five times as long to read. NULLs: there is none.
select
    cast(group_concat(cast(address as text), '') as blob),
    group_concat(printf('%016x%016x', token_id, first_seen_block), '')
from (
    select token_id, address, first_seen_block
    from token not indexed
    where token_id > $above and chain_id = $chain_id
    order by token_id
    limit $at_most
)
