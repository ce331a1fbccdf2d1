-- Writes transfers of a range of which nothing is stored. Tokens are sorted once, by their text, and
-- the rows by the place of their token: that is an integer.
insert into lake.transfer
select
    -$batch, $chain_id, placed.block_number, placed.log_index, token.token, placed.token_id,
    placed.sender_high, placed.sender_mid, placed.sender_low,
    placed.recipient_high, placed.recipient_mid, placed.recipient_low,
    placed.word0, placed.word1, placed.word2, placed.word3
from (
    select incoming.*
    from incoming_transfer incoming
    left join (
        select token_id, row_number() over (order by token) as place from incoming_token
    ) token on token.token_id = incoming.token_id
    order by token.place, incoming.block_number, incoming.log_index
) placed
left join incoming_token token on token.token_id = placed.token_id
