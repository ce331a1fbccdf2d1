-- Deletes files that no state of the lake has had since $before_s.
call ducklake_cleanup_old_files('lake', older_than => to_timestamp($before_s))
