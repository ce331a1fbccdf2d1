-- One row per Parquet file that the lake now has of a table with chains, oldest rows first. Blocks
-- and times are those between which its rows lie; null: the table has no such column.
select
    partition.partition_value::integer as chain_id,
    file.record_count as rows,
    file.file_size_bytes as bytes,
    min(stats.min_value::bigint) filter (col.column_name = 'block_number') as first_block,
    max(stats.max_value::bigint) filter (col.column_name = 'block_number') as last_block,
    max(stats.max_value::bigint) filter (col.column_name = 'time_s') as last_time_s
from __ducklake_metadata_lake.ducklake_data_file file
join __ducklake_metadata_lake.ducklake_table tab
    on tab.table_id = file.table_id and tab.end_snapshot is null
join __ducklake_metadata_lake.ducklake_file_partition_value partition
    on partition.data_file_id = file.data_file_id
left join __ducklake_metadata_lake.ducklake_column col
    on col.table_id = tab.table_id and col.end_snapshot is null
    and col.column_name in ('block_number', 'time_s')
left join __ducklake_metadata_lake.ducklake_file_column_stats stats
    on stats.data_file_id = file.data_file_id and stats.column_id = col.column_id
where tab.table_name = $table and file.end_snapshot is null
group by file.data_file_id, partition.partition_value, file.record_count, file.file_size_bytes
order by last_block, file.data_file_id
