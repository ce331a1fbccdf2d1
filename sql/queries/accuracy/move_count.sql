-- The counts of a block, or of a day where $block_number is -1, with one observation judged otherwise.
update accuracy_count
set disagreed = disagreed + $disagreed, explained = explained + $explained, uncounted = uncounted - $disagreed
where
    chain_id = $chain_id
    and day_s = $day_s
    and block_number = $block_number
    and dex = $dex
    and flag = $flag
    and age = $age
