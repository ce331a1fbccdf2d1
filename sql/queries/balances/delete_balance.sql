-- Removes the balance under a key: it is nothing.
delete from balance where key = ?
