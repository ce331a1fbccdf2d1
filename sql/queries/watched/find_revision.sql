-- One row: the number that grows with the set of watched tokens and with their reports.
select revision from watch_revision where id = 1
