-- One row: failed attempts in a row of the watch $watch_id, with this one, and when the first was.
update watch set
    failures = failures + 1, failed_first_at_s = coalesce(failed_first_at_s, $now_s)
where id = $watch_id
returning failures, failed_first_at_s
