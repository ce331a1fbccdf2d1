-- One row per range of blocks that was read for a subject.
create or replace temp view v_coverage as
select
    chain_id::integer as chain,
    subject,
    from_block,
    to_block,
    to_block - from_block + 1 as blocks
from serving.coverage
-- Of a table without row ids some column must be read, also to count its rows.
where chain_id is not null;
