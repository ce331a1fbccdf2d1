-- Removes the blocks that incoming_block (the columns of block) is about to bring.
delete from block
using incoming_block incoming
where block.chain_id = incoming.chain_id and block.number = incoming.number
