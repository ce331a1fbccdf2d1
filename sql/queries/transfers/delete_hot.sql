-- Removes one transfer that has become final.
delete from transfer where chain_id = ? and block_number = ? and log_index = ?
