create or replace temp view v_early_transfers as
select
    early.chain_id::integer as chain,
    '0x' || lower(hex(token.address)) as token,
    report.symbol,
    early.block_number,
    early.log_index::integer as log_index,
    '0x' || lower(hex(early.sender)) as sender,
    '0x' || lower(hex(early.recipient)) as recipient,
    '0x' || lower(hex(early.tx_hash)) as tx_hash,
    early.word0::double + early.word1::double * 2.0 ** 64 + early.word2::double * 2.0 ** 128
    + early.word3::double * 2.0 ** 192 as amount_raw
from (
    select
        *,
        unhex(repeat('00', 32)) || amount as padded,
        octet_length(amount) as size,
        padded[size + 25 : size + 32]::bit::ubigint as word0,
        padded[size + 17 : size + 24]::bit::ubigint as word1,
        padded[size + 9 : size + 16]::bit::ubigint as word2,
        padded[size + 1 : size + 8]::bit::ubigint as word3
    from serving.early_transfer
) early
join serving.token on token.token_id = early.token_id
left join serving.report on report.token_id = early.token_id;

comment on view v_early_transfers is
    'One row per transfer among the first 200 of a token that its pools do not send; for tokens whose first pool was followed.';
comment on column v_early_transfers.chain is 'Chain id.';
comment on column v_early_transfers.token is 'Address of the token, 0x text in lower case.';
comment on column v_early_transfers.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_early_transfers.block_number is 'Block of the event.';
comment on column v_early_transfers.log_index is 'Place of the event''s log in its block.';
comment on column v_early_transfers.sender is 'Sender; the zero address where tokens were made.';
comment on column v_early_transfers.recipient is 'Recipient.';
comment on column v_early_transfers.tx_hash is 'Hash of the transaction.';
comment on column v_early_transfers.amount_raw is
    'Amount in smallest units, as a floating-point number.';
