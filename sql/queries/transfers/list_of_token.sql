-- One row per transfer of the token $token_id that `balance` does not contain yet.
select sender, recipient, amount from transfer where token_id = $token_id
