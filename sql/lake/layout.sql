-- How the tables lie in files. Who inserts sorts, and cheaper: sorted by is for merges. Notes are few and small: they stay in the catalogue, so that a commit
-- of rows and note writes one file.
alter table lake.transfer set partitioned by (chain_id);
alter table lake.transfer set sorted by (token asc, block_number asc, log_index asc);
alter table lake.trade set partitioned by (chain_id);
alter table lake.trade set sorted by (pool_key asc, block_number asc, log_index asc);
alter table lake.undecoded set partitioned by (chain_id);
call lake.set_option('parquet_compression', 'zstd');
call lake.set_option('parquet_row_group_size', 20480);
call lake.set_option('data_inlining_row_limit', 0, table_name => 'transfer');
call lake.set_option('data_inlining_row_limit', 0, table_name => 'trade');
call lake.set_option('data_inlining_row_limit', 0, table_name => 'undecoded');
call lake.set_option('data_inlining_row_limit', 1000, table_name => 'pool');
call lake.set_option('data_inlining_row_limit', 1000, table_name => 'launch');
call lake.set_option('data_inlining_row_limit', 1000, table_name => 'moved');
call lake.set_option('data_inlining_row_limit', 1000, table_name => 'bulk');
call lake.set_option('data_inlining_row_limit', 1000, table_name => 'lake_version');
call lake.set_option('data_inlining_row_limit', 1000, table_name => 'store_identity');
call lake.set_option('target_file_size', '160MB');
call lake.set_option('sort_on_insert', false);
