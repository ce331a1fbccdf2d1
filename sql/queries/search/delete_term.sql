-- Removes one term of one token.
delete from search_term where chain_id = ? and tier = ? and term = ? and token_id = ?
