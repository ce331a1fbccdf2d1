-- Writes rows that stay in the catalogue to files.
call ducklake_flush_inlined_data('lake')
