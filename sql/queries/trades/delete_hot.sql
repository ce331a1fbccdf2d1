-- Removes one trade that has become final.
delete from trade where chain_id = ? and block_number = ? and log_index = ?
