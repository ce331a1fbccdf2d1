-- One row per transfer of the token numbered $token_id from $from_block to $to_block, as the
-- chain has them. amount_raw is hex text: the four words, the highest first.
select
    transfer.chain_id, transfer.block_number, transfer.log_index, token.address as token,
    sender.address as sender, recipient.address as recipient,
    format(
        '0x{:016x}{:016x}{:016x}{:016x}',
        transfer.word3, transfer.word2, transfer.word1, transfer.word0
    ) as amount_raw
from transfer
join token on token.token_id = transfer.token_id
join address sender on sender.address_id = transfer.sender_id
join address recipient on recipient.address_id = transfer.recipient_id
where
    transfer.token_id = $token_id
    and transfer.block_number between $from_block and $to_block
order by transfer.block_number, transfer.log_index
limit $at_most
