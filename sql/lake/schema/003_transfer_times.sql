-- Time of the transfer's block, Unix seconds. Null: the node did not return it, or an earlier release
-- wrote the row.
alter table lake.transfer add column if not exists time_s bigint;
