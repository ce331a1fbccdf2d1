-- One row, or none: what is known of all balances of a token together.
select token_id, owners, overdrawn, held, bound from token_balance where token_id = ?
