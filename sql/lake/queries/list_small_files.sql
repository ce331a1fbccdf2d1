-- One row per table and chain: how many files below $max_bytes it has. chain_id null: of all chains.
select tab.table_name as table_name, partition.partition_value as chain, count(*) as files
from __ducklake_metadata_lake.ducklake_data_file file
join __ducklake_metadata_lake.ducklake_table tab
    on tab.table_id = file.table_id and tab.end_snapshot is null
left join __ducklake_metadata_lake.ducklake_file_partition_value partition
    on partition.data_file_id = file.data_file_id
where file.end_snapshot is null and file.file_size_bytes < $max_bytes
group by all
order by all
