-- Opens a batch of a chain.
insert into batch (chain_id) values (:chain_id)
