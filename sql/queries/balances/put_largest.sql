-- One of the largest balances of a token from now on.
insert or replace into largest (token_id, owner, value) values (?, ?, ?)
