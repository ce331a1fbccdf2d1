-- One row: the highest number of a pool of any chain; 0 if there is none.
select coalesce(max(pool_no), 0) from pool
