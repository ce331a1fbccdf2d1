-- Tokens of $chain_id that the follow stream meets for the first time in a span that begins at
-- $first: their transfers are complete from there on, or from where they were first seen if later.
update token
set transfers_from_block =
    case when first_seen_block < $first then $first else first_seen_block end
where chain_id = $chain_id and transfers_from_block is null
