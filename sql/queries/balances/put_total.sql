-- What is known of all balances of the token $token_id together from now on.
insert or replace into token_balance (token_id, owners, overdrawn, held, bound)
values ($token_id, $owners, $overdrawn, $held, $bound)
