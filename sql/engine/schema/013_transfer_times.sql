-- Time of the transfer's block, Unix seconds, for who asks in SQL. Null: the node did not tell it, or
-- an earlier release wrote the row.
alter table transfer add column time_s integer;
alter table final_transfer add column time_s integer;
