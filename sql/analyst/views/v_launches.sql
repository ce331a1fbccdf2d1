-- One row per launch that a platform's event told of.
create or replace temp view v_launches as
select
    launch.chain_id::integer as chain,
    '0x' || lower(hex(launch.token)) as token,
    report.symbol,
    launch.slug as launchpad,
    '0x' || lower(hex(launch.emitter)) as emitter,
    '0x' || lower(hex(launch.creator)) as creator,
    '0x' || lower(hex(launch.tx_hash)) as tx_hash,
    launch.block_number,
    launch.log_index::integer as log_index
from serving.launch
left join serving.token on token.address = launch.token and token.chain_id = launch.chain_id
left join serving.report on report.token_id = token.token_id;
