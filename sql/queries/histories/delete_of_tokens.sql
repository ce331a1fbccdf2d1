-- Removes the same of the tokens numbered in gone_token (token_id): their transfers are gone, too.
delete from history where token_id in (select token_id from gone_token)
