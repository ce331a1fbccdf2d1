-- Index of reports by the ids of pools, for contracts that hold many.
create index report_pool_by_pool_id on report_pool (pool_id) where pool_id is not null;
