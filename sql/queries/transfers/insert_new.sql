-- One new row per row of incoming_transfer (chain_id, block_number, log_index, token, sender,
-- recipient, word0 to word3, amount) that is not stored yet.
insert into transfer (
    chain_id, block_number, log_index, token_id, sender_id, recipient_id,
    word0, word1, word2, word3, amount
)
select
    incoming.chain_id, incoming.block_number, incoming.log_index, token.token_id,
    sender.address_id, recipient.address_id,
    incoming.word0, incoming.word1, incoming.word2, incoming.word3, incoming.amount
from incoming_transfer incoming
join token on token.address = incoming.token and token.chain_id = incoming.chain_id
join address sender on sender.address = incoming.sender
join address recipient on recipient.address = incoming.recipient
where not exists (
    select 1 from transfer known
    where
        known.chain_id = incoming.chain_id and known.block_number = incoming.block_number
        and known.log_index = incoming.log_index
)
order by incoming.block_number, incoming.log_index
