-- Notes that :network was given the key :key_id.
insert into trial (network, key_id, reason, contact, issued_at_s)
values (:network, :key_id, :reason, :contact, :issued_at_s)
