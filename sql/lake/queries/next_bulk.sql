-- One row: the number of the next back-filled range.
select coalesce(max(batch), 0) + 1 as batch from lake.bulk
