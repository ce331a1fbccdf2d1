-- Logs that were read of the block. Null: an earlier release read them, or they need no second read.
alter table block add column log_count bigint;
