-- Forgets attempts of all networks up to the minute :minute.
delete from attempt where minute <= :minute
