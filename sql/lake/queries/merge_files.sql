-- Merges neighbouring files of a table that are below $max_bytes, into one file; one row if it did.
select table_name, files_processed, files_created
from ducklake_merge_adjacent_files(
    'lake', $table, max_compacted_files => 1, max_file_size => $max_bytes
)
