-- Options of the files. Level 2 of zstd takes a quarter less time than level 3; row groups of 40,960
-- rows make up for the size, and cost readers of one token 1 ms more than half as large ones. Notes are
-- few and small: they stay in the catalogue, so that a commit of rows and note writes one file.
call lake.set_option('parquet_compression', 'zstd');
call lake.set_option('parquet_compression_level', 2);
call lake.set_option('parquet_row_group_size', 40960);
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
