-- The balance under a key from now on.
insert or replace into balance (key, value) values (?, ?)
