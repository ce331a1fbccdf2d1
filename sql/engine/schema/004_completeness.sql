-- The follower looks in each block for tokens whose transfers are not complete from there on: those
-- without any, and after a reorg, or for a request while it is behind, those complete from later on.

drop index token_incomplete;
create index token_by_completeness on token (chain_id, transfers_from_block);
