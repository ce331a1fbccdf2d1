-- One row: the ids of the serving state and of the lake beside it, NULL where there is none.
select
    (select max(store_id) from serving.store_identity) as serving_id,
    (select max(store_id) from lake.store_identity) as lake_id
