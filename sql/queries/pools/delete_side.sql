-- Removes one side of a pool.
delete from pool_side
where chain_id = ? and token = ? and block_number = ? and log_index = ? and pool_no = ?
