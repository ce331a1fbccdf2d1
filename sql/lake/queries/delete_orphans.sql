-- Deletes files that no state of the lake ever had, written before $before_s.
call ducklake_delete_orphaned_files('lake', older_than => to_timestamp($before_s))
