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
