-- Notes whose lake this is.
insert into lake.store_identity values ($store_id)
