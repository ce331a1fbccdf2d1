-- One row: how many trades are stored, over all chains.
select count(*) as count from trade order by count
