-- One row per token of the watch $watch_id above $after, by number; $at_most of them.
select watch_token.token_id, token.chain_id, token.address, watch_token.is_awaiting
from watch_token cross join token on token.token_id = watch_token.token_id
where watch_token.watch_id = $watch_id and watch_token.token_id > $after
order by watch_token.token_id
limit $at_most
