-- One row: how many launches are stored, over all chains.
select count(*) as count from launch order by count
