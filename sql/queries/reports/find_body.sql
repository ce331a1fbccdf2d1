-- One row, or none: the report of the token $token_id as JSON, packed by zstd.
select body from report_body where token_id = $token_id
