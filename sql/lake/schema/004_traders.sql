-- Trader and transaction of a trade. Null: the logs name no trader, or several; the node did not send
-- the transaction; or an earlier release wrote the row.
alter table lake.trade add column if not exists trader varchar;
alter table lake.trade add column if not exists tx_hash varchar;
