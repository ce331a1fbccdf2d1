-- One row per owner of a token, whose keys begin with $first and end below $end.
select key, value from balance where key >= $first and key < $end
