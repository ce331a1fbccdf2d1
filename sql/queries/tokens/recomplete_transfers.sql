-- Tokens of $chain_id whose transfers were complete only from above $first, where the follow stream
-- begins a span: later ones were stored before a reorg, or the token was asked for while following
-- was behind. They are complete from there on, or from where they were first seen if later.
update token
set transfers_from_block =
    case when first_seen_block < $first then $first else first_seen_block end
where chain_id = $chain_id and transfers_from_block > $first
