-- A pool that is stored by a later event: it is as the earlier one says. Parameters are in the order
-- of its columns.
update pool set
    pool = ?3, pool_id = ?4, dex = ?5, kind = ?6, variant = ?7, factory = ?8, token0 = ?9,
    token1 = ?10, fee = ?11, tick_spacing = ?12, stable = ?13, hooks = ?14, block_number = ?15,
    log_index = ?16
where chain_id = ?1 and pool_key = ?2
