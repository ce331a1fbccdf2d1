-- name: delete_quotes
-- Deletes the quote tokens of a chain.
delete from quote_token where chain_id = $chain_id and address >= ''
