-- Partitions and order of the tables in files. Inserts sort their rows themselves, which is cheaper;
-- "sorted by" is for merges.
alter table lake.transfer set partitioned by (chain_id);
alter table lake.transfer set sorted by (token asc, block_number asc, log_index asc);
alter table lake.trade set partitioned by (chain_id);
alter table lake.trade set sorted by (pool_key asc, block_number asc, log_index asc);
alter table lake.undecoded set partitioned by (chain_id);
