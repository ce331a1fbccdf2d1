-- One row: how many transfers are stored, over all chains.
select count(*) as count from transfer order by count
