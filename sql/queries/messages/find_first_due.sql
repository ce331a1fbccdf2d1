-- One row: when the longest overdue attempt was to be made. Null: none is to be made.
select min(due_s) as due_s from watch where due_s is not null
