-- Removes one undecoded log that has become final.
delete from undecoded where chain_id = ? and block_number = ? and log_index = ?
