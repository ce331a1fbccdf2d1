-- Writes the launches that $scan reads of the serving state, but those that the lake has.
insert into lake.launch
select
    $chain_id, '0x' || new.token, new.slug, '0x' || new.emitter,
    case when new.has_no_creator = '0' then '0x' || new.creator end,
    case when new.has_no_tx = '0' then '0x' || new.tx_hash end,
    new.block_number::bigint, new.log_index::integer
from serving_rows($scan) new
anti join lake.launch old
    on old.chain_id = $chain_id and old.token = '0x' || new.token and old.slug = new.slug
order by new.block_number::bigint, new.log_index::integer
