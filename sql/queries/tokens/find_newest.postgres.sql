-- One row: the highest id of a token of $chain_id; 0 if there is none. That of another chain would not
-- do: transactions of two chains may commit in another order than they were given ids.
select coalesce(max(token_id), 0) from token where chain_id = $chain_id
