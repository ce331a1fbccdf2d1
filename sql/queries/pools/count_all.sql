-- One row: how many pools are stored, over all chains.
select count(*) as count from pool order by count
