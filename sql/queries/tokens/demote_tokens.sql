-- The tokens numbered in kept_token (token_id) are tracked only because somebody asked for them.
update token set tracked_because = 'request'
where token_id in (select token_id from kept_token)
