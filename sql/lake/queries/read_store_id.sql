-- One row, if it is known: the id of the store whose lake this is.
select store_id from lake.store_identity limit 1
