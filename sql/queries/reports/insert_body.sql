-- Stores the report of the token $token_id as JSON, packed by zstd.
insert into report_body (token_id, body) values ($token_id, $body)
on conflict (token_id) do update set body = excluded.body
