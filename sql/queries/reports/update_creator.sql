-- The report of token $token_id, if it is still the one of block $block_hash: who made the token.
update report set creator_address = $creator, creator_balance_raw = $balance_raw
where token_id = $token_id and block_hash = $block_hash
