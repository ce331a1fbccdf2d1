-- Notes that :key_id is a key of :account_id; :prefix is what may be shown of it.
insert into account_key (key_id, account_id, prefix)
values (:key_id, :account_id, :prefix)
