-- Forgets former states of the lake; their files are deleted later.
call ducklake_expire_snapshots('lake', older_than => to_timestamp($before_s))
