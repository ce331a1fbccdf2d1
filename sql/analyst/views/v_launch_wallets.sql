-- The definitions of docs/use/launch.md, with the default thresholds.
create or replace temp view v_launch_wallets as
with recursive first_trade as (
    select early.token_id, early.chain_id, early.block_number, early.time_s
    from serving.early_trade early
    join serving.token on token.token_id = early.token_id
    qualify row_number() over (
        partition by early.token_id order by early.block_number, early.log_index
    ) = 1
),
-- Where the logs name no single buyer, the recipients that keep tokens of the transaction.
buys as (
    select token_id, block_number, log_index, time_s, tx_hash, trader as wallet, amount
    from serving.early_trade
    where is_sale = 0 and trader is not null
    union all
    select
        early.token_id, early.block_number, early.log_index, early.time_s, early.tx_hash,
        moved.recipient as wallet, null as amount
    from serving.early_trade early
    join serving.early_transfer moved
        on moved.token_id = early.token_id and moved.tx_hash = early.tx_hash
    where
        early.is_sale = 0 and early.trader is null
        and not exists (
            select 1 from serving.early_transfer passed_on
            where passed_on.token_id = moved.token_id and passed_on.tx_hash = moved.tx_hash
                and passed_on.sender = moved.recipient
        )
),
early as (
    select buys.*, first_trade.chain_id
    from buys
    join first_trade on first_trade.token_id = buys.token_id
    where
        buys.block_number < first_trade.block_number + 3
        or buys.time_s <= first_trade.time_s + 12
),
creator as (
    select
        token.token_id, token.chain_id,
        coalesce(report.creator_address, launch.creator, creator.creator) as wallet,
        creator.tx_hash, creator.block_number
    from serving.token
    left join serving.report on report.token_id = token.token_id
    left join (
        select chain_id, token, arg_min(creator, block_number) as creator
        from serving.launch
        where creator is not null
        group by all
    ) launch on launch.chain_id = token.chain_id and launch.token = token.address
    left join serving.creator
        on creator.chain_id = token.chain_id and creator.token = token.address
    where coalesce(report.creator_address, launch.creator, creator.creator) is not null
),
-- Transfers outside of trades, as edges.
edges as (
    select moved.*
    from serving.early_transfer moved
    where not exists (
        select 1 from serving.early_trade early
        where early.token_id = moved.token_id and early.tx_hash = moved.tx_hash
    )
),
linked as (
    select token_id, wallet, 0 as links, null::blob as tx_hash, null::bigint as block_number,
        null::blob as source
    from creator
    union all
    select
        edges.token_id, edges.recipient, 1, edges.tx_hash, edges.block_number, edges.sender
    from creator
    join edges on edges.token_id = creator.token_id and edges.tx_hash = creator.tx_hash
    where edges.sender = unhex(repeat('00', 20))
    union all
    select
        edges.token_id, edges.recipient, linked.links + 1, edges.tx_hash, edges.block_number,
        edges.sender
    from linked
    join edges on edges.token_id = linked.token_id and edges.sender = linked.wallet
        and edges.block_number >= coalesce(linked.block_number, 0)
    where linked.links < 3
),
pools as (
    select side.chain_id, side.token, pool.pool
    from serving.pool_side side
    join serving.pool on pool.pool_no = side.pool_no
),
bundled as (
    select token_id, wallet, 'one_transaction' as why
    from early
    qualify count(distinct wallet) over (partition by token_id, tx_hash) >= 2
    union all
    select token_id, wallet, 'one_block' as why
    from early
    qualify count(distinct wallet) over (partition by token_id, block_number) >= 3
    union all
    select early.token_id, early.wallet, 'one_funder' as why
    from early
    join serving.funder
        on funder.chain_id = early.chain_id and funder.account = early.wallet
        and funder.funder is not null
    qualify count(distinct early.wallet) over (partition by early.token_id, funder.funder) >= 2
),
roles as (
    select token_id, wallet, 'developer' as role, tx_hash, block_number,
        null::blob as source
    from creator
    union all
    select token_id, wallet, 'insider', tx_hash, block_number, source from linked where links > 0
    union all
    select early.token_id, early.wallet, 'bundle', early.tx_hash, early.block_number, null
    from early
    semi join bundled on bundled.token_id = early.token_id and bundled.wallet = early.wallet
    union all
    select early.token_id, early.wallet, 'sniper', early.tx_hash, early.block_number, null
    from early
    join serving.report on report.token_id = early.token_id
    qualify
        sum(early.amount) over (partition by early.token_id, early.wallet)
        >= 0.01 * nullif(report.supply_raw::double, 0)
    union all
    select token_id, wallet, 'early_buyer', tx_hash, block_number, null from early
)
select
    token.chain_id::integer as chain,
    '0x' || lower(hex(token.address)) as token,
    report.symbol,
    '0x' || lower(hex(roles.wallet)) as wallet,
    roles.role,
    '0x' || lower(hex(arg_min(roles.tx_hash, coalesce(roles.block_number, 0)))) as tx_hash,
    min(roles.block_number) as block_number,
    '0x' || lower(hex(arg_min(roles.source, roles.block_number))) as source
from roles
join serving.token on token.token_id = roles.token_id
left join serving.report on report.token_id = roles.token_id
where
    roles.wallet not in (
        token.address, unhex(repeat('00', 20)), unhex(repeat('00', 18) || 'dead')
    )
    and not exists (
        select 1 from pools
        where pools.chain_id = token.chain_id and pools.token = token.address
            and pools.pool = roles.wallet
    )
    and not (roles.role = 'insider' and exists (
        select 1 from creator
        where creator.token_id = roles.token_id and creator.wallet = roles.wallet
    ))
group by all;

comment on view v_launch_wallets is
    'One row per account and role around a token''s launch, as in launch forensics with the default thresholds. Check that the token''s first pool is in v_coverage of "early events".';
comment on column v_launch_wallets.chain is 'Chain id.';
comment on column v_launch_wallets.token is 'Address of the token, 0x text in lower case.';
comment on column v_launch_wallets.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_launch_wallets.wallet is 'Address of the account, 0x text in lower case.';
comment on column v_launch_wallets.role is
    'developer, insider, bundle, sniper or early_buyer. Facts, and no accusation.';
comment on column v_launch_wallets.tx_hash is
    'Hash of the transaction that puts it there. NULL: the creation is not looked up.';
comment on column v_launch_wallets.block_number is 'Block of that transaction. NULL: as for tx_hash.';
comment on column v_launch_wallets.source is 'Sender of an insider''s tokens. NULL for other roles.';
