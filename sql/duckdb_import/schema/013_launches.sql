-- Tokens that launch platforms issued, as their creation events told, and what analysts read of it.

create table launch (
    chain_id integer not null,
    token varchar not null,
    slug varchar not null,
    emitter varchar not null,
    creator varchar,
    tx_hash varchar,
    block_number bigint not null,
    log_index integer not null
);

-- Speed only, as in 007.
create index launch_by_token on launch (token);

create view v_launches as
select
    launch.chain_id as chain,
    launch.token,
    report.symbol,
    launch.slug as launchpad,
    launch.emitter,
    launch.creator,
    launch.tx_hash,
    launch.block_number,
    launch.log_index
from launch
left join token on token.address = launch.token and token.chain_id = launch.chain_id
left join report on report.token_id = token.token_id;
