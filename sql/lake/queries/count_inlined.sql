-- One row: rows that stay in the catalogue instead of a file, of all tables that only grow.
select
    (select count(*) from lake.pool) + (select count(*) from lake.launch)
    + (select count(*) from lake.moved) + (select count(*) from lake.bulk)
    - (
        select coalesce(sum(file.record_count), 0)
        from __ducklake_metadata_lake.ducklake_data_file file
        join __ducklake_metadata_lake.ducklake_table tab
            on tab.table_id = file.table_id and tab.end_snapshot is null
        where tab.table_name in ('pool', 'launch', 'moved', 'bulk') and file.end_snapshot is null
    ) as rows
