-- Removes the counts of days of $chain_id before $before_s.
delete from accuracy_count where chain_id = $chain_id and day_s < $before_s
