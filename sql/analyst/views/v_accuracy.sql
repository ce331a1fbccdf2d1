create or replace temp view v_accuracy as
select
    accuracy_count.chain_id::integer as chain,
    make_timestamp(accuracy_count.day_s * 1000000)::date as day,
    accuracy_count.dex,
    accuracy_count.flag,
    accuracy_count.age,
    sum(accuracy_count.agreed + accuracy_count.disagreed)::bigint as observations,
    sum(accuracy_count.disagreed)::bigint as disagreements,
    sum(accuracy_count.explained)::bigint as explained,
    sum(accuracy_count.uncounted)::bigint as uncounted
from serving.accuracy_count
group by all;

comment on view v_accuracy is
    'One row per day, chain, exchange, flag and age of reports: how predictions came out in real trades and transfers, within the retention (indexer.history_kept_s).';
comment on column v_accuracy.chain is 'Chain id.';
comment on column v_accuracy.day is 'Day of the trades, UTC.';
comment on column v_accuracy.dex is 'Name of the exchange; empty for plain transfers.';
comment on column v_accuracy.flag is
    'The field that predicts: buy_success, buy_tax, sell_success, sell_tax or transfer_success.';
comment on column v_accuracy.age is
    'How old the report was: up to a minute, an hour, a day or a week, or older.';
comment on column v_accuracy.observations is 'Trades or transfers that agree or disagree.';
comment on column v_accuracy.disagreements is
    'Of those, how many came out otherwise than predicted.';
comment on column v_accuracy.explained is
    'Of the disagreements, those that a later report explains: the token had changed.';
comment on column v_accuracy.uncounted is
    'Seen and left out, as the logs can be read in more than one way.';
