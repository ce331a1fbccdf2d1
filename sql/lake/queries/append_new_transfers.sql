-- Writes those transfers of a range that neither the lake nor the serving state has.
insert into lake.transfer
select
    -$batch, $chain_id, incoming.block_number, incoming.log_index, token.text, incoming.token_id,
    incoming.sender_high, incoming.sender_mid, incoming.sender_low,
    incoming.recipient_high, incoming.recipient_mid, incoming.recipient_low,
    incoming.word0, incoming.word1, incoming.word2, incoming.word3,
    nullif(incoming.time_s, -1)
from incoming_transfer incoming
left join (
    select token_id, printf('0x%08x%016x%016x', high, mid, low) as text from incoming_token
) token on token.token_id = incoming.token_id
anti join (
    select block_number, log_index from stored_key
    union all
    select block_number, log_index from lake.transfer
    where chain_id = $chain_id and block_number between $from_block and $to_block
) stored
    on stored.block_number = incoming.block_number and stored.log_index = incoming.log_index
order by token.text, incoming.block_number, incoming.log_index
