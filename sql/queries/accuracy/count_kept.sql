-- One row: how many disagreements of the token $token_id above the block $above are kept.
select count(*) as kept from disagreement where token_id = $token_id and block_number > $above
