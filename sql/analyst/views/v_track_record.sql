create or replace temp view v_track_record as
select
    token.chain_id::integer as chain,
    '0x' || lower(hex(token.address)) as token,
    record.first_block,
    make_timestamp(record.first_time_s * 1000000) as first_trade_time,
    record.sales,
    record.buys,
    record.sellers,
    record.buyers,
    coalesce(spread.sellers, 0)::bigint as spread_sellers,
    coalesce(spread.days, 0)::bigint as seller_days
from serving.trade_record record
join serving.token on token.token_id = record.token_id
left join (
    select token_id, sum(least(sellers, 20)) as sellers, count(*) filter (where sellers > 0) as days
    from serving.trade_day
    group by token_id
) spread on spread.token_id = record.token_id;

comment on view v_track_record is
    'One row per token with final real trades: how many, and by how many accounts on how many days.';
comment on column v_track_record.chain is 'Chain id.';
comment on column v_track_record.token is 'Address of the token, 0x text in lower case.';
comment on column v_track_record.first_block is 'Block of the oldest counted trade.';
comment on column v_track_record.first_trade_time is 'Time of that block, UTC.';
comment on column v_track_record.sales is 'Sales in pools, the token''s own left out.';
comment on column v_track_record.buys is 'Purchases in pools.';
comment on column v_track_record.sellers is
    'Accounts that sold, each once: at most 50 new ones of a day, and 2,500 in all.';
comment on column v_track_record.buyers is 'The same of accounts that bought.';
comment on column v_track_record.spread_sellers is 'Sellers, at most 20 new ones of a day.';
comment on column v_track_record.seller_days is 'Days with a new seller.';
