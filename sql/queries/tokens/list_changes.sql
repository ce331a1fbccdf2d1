-- One row per change to a token of $chain_id after the change $after: the token as it is now, NULL
-- where it is not tracked any more.
select token_change.change, token_change.token_id, token.address, token.first_seen_block
from token_change
left join token on token.token_id = token_change.token_id
where token_change.change > $after and token_change.chain_id = $chain_id
order by token_change.change
