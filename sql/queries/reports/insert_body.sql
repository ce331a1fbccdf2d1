-- Stores the report of the token $token_id as JSON, packed by zstd.
insert or replace into report_body (token_id, body) values ($token_id, $body)
