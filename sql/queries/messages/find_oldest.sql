-- One row: when the oldest message was made that waits to be sent. Null: none waits.
select min(created_at_s) as created_at_s from watch_message where is_pending = 1
