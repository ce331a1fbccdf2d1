-- One row per launch of chain {chain_id} from block {from_block} to {to_block}, as text.
select
    lower(hex(token)) as token, slug, lower(hex(emitter)) as emitter,
    lower(hex(creator)) as creator, creator is null as has_no_creator,
    lower(hex(tx_hash)) as tx_hash, tx_hash is null as has_no_tx, block_number, log_index
from launch
where chain_id = {chain_id} and block_number between {from_block} and {to_block}
