-- Removes verdict and checks of the report on $token_id.
delete from judgement where token_id = $token_id
