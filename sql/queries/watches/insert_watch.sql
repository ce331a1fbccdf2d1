-- One row: the number of the new watch.
insert into watch (is_paused, key_id, name, kinds, url, secret, created_at_s)
values (0, $key_id, $name, $kinds, $url, $secret, $created_at_s)
returning id
