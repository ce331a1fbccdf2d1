-- What is written down of $token_id from now on.
insert or replace into report_state (token_id, state) values ($token_id, $state)
