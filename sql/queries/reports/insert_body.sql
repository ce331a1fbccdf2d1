-- Adds the report of the token $token_id as one JSON text.
insert into report_body (token_id, body) values ($token_id, $body)
