-- Time of the transfer's block, Unix seconds, for SQL. Null: the node did not return it, or an earlier
-- release wrote the row.
alter table transfer add column time_s integer;
alter table final_transfer add column time_s integer;
