-- One row per transfer of a tracked token: not yet final, waiting for the lake, and in the lake.
--
-- The serving state comes first: a reader that sees it as it was before a move sees the lake after
-- it, so the rows are in both, and the note leaves one out.
create or replace temp view v_transfers as
with stored as (
    select
        hot.chain_id, hot.block_number, hot.log_index, hot.token_id,
        '0x' || lower(hex(token.address)) as token,
        '0x' || lower(hex(hot.sender)) as sender,
        '0x' || lower(hex(hot.recipient)) as recipient,
        unhex(repeat('00', 32)) || hot.amount as padded,
        octet_length(hot.amount) as size
    from serving.transfer hot
    join serving.token on token.token_id = hot.token_id
    union all
    select
        batch.chain_id, waiting.block_number, waiting.log_index, waiting.token_id,
        '0x' || lower(hex(token.address)) as token,
        '0x' || lower(hex(waiting.sender)) as sender,
        '0x' || lower(hex(waiting.recipient)) as recipient,
        unhex(repeat('00', 32)) || waiting.amount as padded,
        octet_length(waiting.amount) as size
    from serving.final_transfer waiting
    join serving.batch on batch.batch = waiting.batch
    join serving.token on token.token_id = waiting.token_id
    anti join lake.moved on moved.batch = waiting.batch
),
placed as (
    select
        chain_id, block_number, log_index, token_id, token, sender, recipient,
        padded[size + 25 : size + 32]::bit::ubigint as word0,
        padded[size + 17 : size + 24]::bit::ubigint as word1,
        padded[size + 9 : size + 16]::bit::ubigint as word2,
        padded[size + 1 : size + 8]::bit::ubigint as word3
    from stored
    union all
    select
        chain_id, block_number, log_index, token_id, token,
        format('0x{:08x}{:016x}{:016x}', sender_high, sender_mid, sender_low) as sender,
        format('0x{:08x}{:016x}{:016x}', recipient_high, recipient_mid, recipient_low) as recipient,
        word0, word1, word2, word3
    from lake.transfer
),
counted as (
    select
        *,
        word0::double + word1::double * 2.0 ** 64
        + word2::double * 2.0 ** 128 + word3::double * 2.0 ** 192 as amount_raw
    from placed
)
select
    counted.chain_id::integer as chain,
    counted.block_number,
    counted.log_index::integer as log_index,
    counted.token,
    report.symbol,
    counted.sender,
    counted.recipient,
    counted.amount_raw / 10.0 ** report.decimals as amount,
    counted.amount_raw
from counted
left join serving.report on report.token_id = counted.token_id;
