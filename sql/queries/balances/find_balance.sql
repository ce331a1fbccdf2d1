-- One row, or none: the balance under a key.
select value from balance where key = ?
