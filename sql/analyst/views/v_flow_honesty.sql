create or replace temp view v_flow_honesty as
with farmed as (
    select own.chain, own.token, own.trader
    from v_wallet_trades own
    join serving.funder
        on funder.chain_id = own.chain and '0x' || lower(hex(funder.account)) = own.trader
    where funder.funder is not null
    qualify count(*) over (partition by own.chain, own.token, funder.funder) >= 3
),
marked as (
    select
        own.*,
        farmed.trader is not null as is_farmed,
        row_number() over (
            partition by own.chain, own.token
            order by own.is_round_trip desc, own.is_mechanical desc, own.traded_raw desc
        ) as place
    from v_wallet_trades own
    left join farmed
        on farmed.chain = own.chain and farmed.token = own.token and farmed.trader = own.trader
)
select
    chain,
    token,
    any_value(symbol) as symbol,
    count(*) as traders,
    sum(buys)::bigint as buys,
    sum(sells)::bigint as sells,
    sum(traded_raw) filter (is_round_trip) / sum(traded_raw) as round_trip_share,
    sum(traded_raw) filter (is_mechanical) / sum(traded_raw) as mechanical_share,
    count(*) filter (is_farmed) as farmed_traders,
    sum(buys) >= 20 and sum(sells) = 0 as is_one_way,
    list(trader order by place)
        filter (place <= 20 and (is_round_trip or is_mechanical or is_farmed)) as wallets
from marked
group by chain, token;

comment on view v_flow_honesty is
    'One row per token with stored trades: signs of wash trading, one-way flow, wallet farms and mechanical trading. Signs, not proofs: market makers trade like this, too.';
comment on column v_flow_honesty.chain is 'Chain id.';
comment on column v_flow_honesty.token is 'Address of the token, 0x text in lower case.';
comment on column v_flow_honesty.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_flow_honesty.traders is 'Accounts that traded, as far as the logs name them.';
comment on column v_flow_honesty.buys is 'Their purchases.';
comment on column v_flow_honesty.sells is 'Their sales.';
comment on column v_flow_honesty.round_trip_share is
    'Share of the tokens traded by accounts whose purchases and sales cancel out, 0 to 1. NULL: none.';
comment on column v_flow_honesty.mechanical_share is
    'Share of the tokens traded by accounts at equal intervals or amounts, 0 to 1. NULL: none.';
comment on column v_flow_honesty.farmed_traders is
    'Traders that have the first funder in common with two others, of those looked up.';
comment on column v_flow_honesty.is_one_way is 'At least 20 purchases and no sale.';
comment on column v_flow_honesty.wallets is
    'Accounts with one of these signs, at most 20. NULL: none.';
