-- Three places: not yet final, queued for the lake, and in the lake. The serving state comes first: a
-- reader that sees it before a move sees the lake after it, so the rows are in both, and the note
-- hides one of them.
create or replace temp view v_transfers as
with stored as (
    select
        null::integer as batch, hot.chain_id, hot.block_number, hot.log_index, hot.token_id,
        '0x' || lower(hex(token.address)) as token,
        '0x' || lower(hex(hot.sender)) as sender,
        '0x' || lower(hex(hot.recipient)) as recipient,
        unhex(repeat('00', 32)) || hot.amount as padded,
        octet_length(hot.amount) as size,
        hot.time_s
    from serving.transfer hot
    join serving.token on token.token_id = hot.token_id
    union all
    select
        null::integer as batch, batch.chain_id, waiting.block_number, waiting.log_index, waiting.token_id,
        '0x' || lower(hex(token.address)) as token,
        '0x' || lower(hex(waiting.sender)) as sender,
        '0x' || lower(hex(waiting.recipient)) as recipient,
        unhex(repeat('00', 32)) || waiting.amount as padded,
        octet_length(waiting.amount) as size,
        waiting.time_s
    from serving.final_transfer waiting
    join serving.batch on batch.batch = waiting.batch
    join serving.token on token.token_id = waiting.token_id
    anti join lake.moved on moved.batch = waiting.batch
),
placed as (
    select
        batch, chain_id, block_number, log_index, token_id, token, sender, recipient, time_s,
        padded[size + 25 : size + 32]::bit::ubigint as word0,
        padded[size + 17 : size + 24]::bit::ubigint as word1,
        padded[size + 9 : size + 16]::bit::ubigint as word2,
        padded[size + 1 : size + 8]::bit::ubigint as word3
    from stored
    union all
    select
        batch, chain_id, block_number, log_index, token_id, token,
        format('0x{:08x}{:016x}{:016x}', sender_high, sender_mid, sender_low) as sender,
        format('0x{:08x}{:016x}{:016x}', recipient_high, recipient_mid, recipient_low) as recipient,
        time_s, word0, word1, word2, word3
    from lake.transfer
),
-- Decimal text of the four words, which no type of DuckDB holds: halves of 128 bits in limbs of 18
-- digits, the upper ones times 2 ** 128 (340'282366920938463463'374607431768211456).
halves as (
    select
        *,
        word0::double + word1::double * 2.0 ** 64
        + word2::double * 2.0 ** 128 + word3::double * 2.0 ** 192 as amount_raw,
        word1::uhugeint * 18446744073709551616 + word0 as low,
        word3::uhugeint * 18446744073709551616 + word2 as high
    from placed
),
limbs as (
    select
        *,
        (high % 1000000000000000000)::uhugeint as high0,
        (high // 1000000000000000000 % 1000000000000000000)::uhugeint as high1,
        (high // 1000000000000000000 // 1000000000000000000)::uhugeint as high2,
        high0 * 374607431768211456 + low % 1000000000000000000 as sum0,
        high0 * 282366920938463463 + high1 * 374607431768211456
        + low // 1000000000000000000 % 1000000000000000000 + sum0 // 1000000000000000000 as sum1,
        high0 * 340 + high1 * 282366920938463463 + high2 * 374607431768211456
        + low // 1000000000000000000 // 1000000000000000000 + sum1 // 1000000000000000000 as sum2,
        high1 * 340 + high2 * 282366920938463463 + sum2 // 1000000000000000000 as sum3,
        high2 * 340 + sum3 // 1000000000000000000 as sum4
    from halves
)
select
    limbs.chain_id::integer as chain,
    limbs.block_number,
    limbs.log_index::integer as log_index,
    make_timestamp(limbs.time_s * 1000000) as block_time,
    limbs.token,
    report.symbol,
    limbs.sender,
    limbs.recipient,
    limbs.amount_raw / 10.0 ** report.decimals as amount,
    limbs.amount_raw,
    case
        when limbs.high = 0 then limbs.low::varchar
        else ltrim(concat(
            sum4::varchar,
            lpad((sum3 % 1000000000000000000)::varchar, 18, '0'),
            lpad((sum2 % 1000000000000000000)::varchar, 18, '0'),
            lpad((sum1 % 1000000000000000000)::varchar, 18, '0'),
            lpad((sum0 % 1000000000000000000)::varchar, 18, '0')
        ), '0')
    end as amount_exact,
    limbs.batch
from limbs
left join serving.report on report.token_id = limbs.token_id;

comment on view v_transfers is
    'One row per transfer of a tracked token, final or not, from v_histories.transfers_from_block on.';
comment on column v_transfers.chain is 'Chain id.';
comment on column v_transfers.block_number is 'Block of the event.';
comment on column v_transfers.log_index is 'Place of the event''s log in its block.';
comment on column v_transfers.block_time is
    'Time of the block, UTC. NULL: the node did not tell it, or a release before 0.5.0 wrote the row.';
comment on column v_transfers.token is 'Address of the token, 0x text in lower case.';
comment on column v_transfers.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_transfers.sender is 'Sender; the zero address where tokens were made.';
comment on column v_transfers.recipient is
    'Recipient; the zero address where tokens were destroyed.';
comment on column v_transfers.amount is
    'Amount in whole tokens, as a floating-point number. NULL: the decimals are not known.';
comment on column v_transfers.amount_raw is 'Amount in smallest units, as a floating-point number.';
comment on column v_transfers.amount_exact is
    'Amount in smallest units, exactly, as decimal text of up to 78 digits.';
comment on column v_transfers.batch is
    'Batch of the lake that brought the row, negative from a back-fill. NULL: it is not in the lake yet.';
