-- One row per table and chain: its files, their rows and bytes.
select
    partition.partition_value::integer as chain_id,
    tab.table_name as table_name,
    count(*) as files,
    sum(file.record_count)::bigint as rows,
    sum(file.file_size_bytes)::bigint as bytes
from __ducklake_metadata_lake.ducklake_data_file file
join __ducklake_metadata_lake.ducklake_table tab
    on tab.table_id = file.table_id and tab.end_snapshot is null
join __ducklake_metadata_lake.ducklake_file_partition_value partition
    on partition.data_file_id = file.data_file_id
where file.end_snapshot is null
group by all
order by all
