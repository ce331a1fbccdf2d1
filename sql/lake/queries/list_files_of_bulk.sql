-- One row per file that has rows of a range.
select distinct filename from lake.transfer where batch = -$batch and chain_id = $chain_id
