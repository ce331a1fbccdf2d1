-- Writes files anew of which more than a third of the rows is deleted.
select table_name, files_processed, files_created
from ducklake_rewrite_data_files('lake', $table, delete_threshold => 0.34)
