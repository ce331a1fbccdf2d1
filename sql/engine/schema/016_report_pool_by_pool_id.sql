-- Reports are looked up by the ids of the pools that trade in a block, where one contract keeps many.
create index report_pool_by_pool_id on report_pool (pool_id) where pool_id is not null;
