-- Writes transfers of a range of which nothing is stored, in their order.
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
