-- One row, or none: the balance under $key.
select value from balance where key = $key
