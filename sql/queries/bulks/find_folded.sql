-- One row, or none: the last range of a back-fill that was begun to be added to the balances.
select batch, after_key from bulk_folded where one = 1
