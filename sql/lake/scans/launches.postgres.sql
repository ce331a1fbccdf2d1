-- One row per launch of chain {chain_id} from block {from_block} to {to_block}, as text.
select
    encode(token, 'hex') as token, slug, encode(emitter, 'hex') as emitter,
    encode(creator, 'hex') as creator, (creator is null)::integer::text as has_no_creator,
    encode(tx_hash, 'hex') as tx_hash, (tx_hash is null)::integer::text as has_no_tx, block_number, log_index
from launch
where chain_id = {chain_id} and block_number between {from_block} and {to_block}
