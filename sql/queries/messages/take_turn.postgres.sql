-- One row: from here to the end of the transaction no other gives numbers to messages, so that they
-- are committed in the order of their numbers, of whatever chains.
select 1 as taken from (select pg_advisory_xact_lock(hashtext('assay messages')) as turn) as waited
