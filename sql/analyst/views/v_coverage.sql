create or replace temp view v_coverage as
select
    chain_id::integer as chain,
    subject,
    from_block,
    to_block,
    to_block - from_block + 1 as blocks
from serving.coverage
-- Reads a column because a table without row ids cannot be counted otherwise.
where chain_id is not null;

comment on view v_coverage is
    'One row per range of blocks that was read for a subject.';
comment on column v_coverage.chain is 'Chain id.';
comment on column v_coverage.subject is
    'What was read: pools:<factory>, or the subject of a launch platform.';
comment on column v_coverage.from_block is 'First block of the range.';
comment on column v_coverage.to_block is 'Last block of the range, included.';
comment on column v_coverage.blocks is 'Number of blocks in the range.';
