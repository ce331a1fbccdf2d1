-- Funders: the sources of the first coins of tokens' creators, read from final blocks.

create table funder (
    chain_id integer not null,
    account blob not null,
    -- null: the block does not show it, which stays so
    funder blob,
    block_number integer not null,
    tx_hash blob,
    primary key (chain_id, account)
) without rowid;
create index funder_by_funder on funder (chain_id, funder, block_number)
where funder is not null;
