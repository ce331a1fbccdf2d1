-- One row per range of blocks of which a back-fill has stored the transfers of the token $token_id.
select from_block, to_block from filled_span where token_id = $token_id
