-- No more messages to the watches of the key $key_id, which has ended.
update watch set is_paused = 1, due_s = null where key_id = $key_id
