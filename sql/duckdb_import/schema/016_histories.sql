-- How much of a token's past has been fetched: its transfers from before the follow stream took them
-- up, backwards from there. Where that has come to is token.transfers_from_block.

create table history (
    token_id integer not null,
    is_whole boolean not null,
    requests bigint not null,
    logs bigint not null
);

-- What the stored transfers of a token leave with each address, as sums of words that may be
-- negative: exact, however large the amounts that came and went.
create view holding as
select
    token_id,
    owner_id,
    sum(word0) as word0, sum(word1) as word1, sum(word2) as word2, sum(word3) as word3
from (
    select
        token_id, recipient_id as owner_id,
        sum(word0) as word0, sum(word1) as word1, sum(word2) as word2, sum(word3) as word3
    from transfer
    group by token_id, recipient_id
    union all
    select
        token_id, sender_id as owner_id,
        -sum(word0) as word0, -sum(word1) as word1, -sum(word2) as word2, -sum(word3) as word3
    from transfer
    group by token_id, sender_id
) side
group by token_id, owner_id;

-- What a whole history leaves with holders that the report does not list. NULL: not known.
alter table report add column others_raw varchar;

create view v_histories as
select
    token.chain_id as chain,
    token.address as token,
    report.symbol,
    token.transfers_from_block,
    coalesce(history.is_whole or token.transfers_from_block = 0, false) as is_whole,
    coalesce(history.logs, 0) as past_logs,
    coalesce(history.requests, 0) as past_requests
from token
left join history on history.token_id = token.token_id
left join report on report.token_id = token.token_id;
