-- One row, or none: a call of the token $token_id by its owner, or an event of its parameters, in a
-- block above $above and up to $up_to.
select block_number
from observation
where
    token_id = $token_id
    and block_number > $above
    and block_number <= $up_to
    and kind in ('owner_call', 'parameter_event', 'ownership_event')
limit 1
