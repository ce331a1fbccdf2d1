-- Writes the transfers of a batch; $scan reads its tokens of the serving state. An amount is the
-- shortest signed big-endian number: padded in front, its last 32 bytes are the four words.
insert into lake.transfer
select
    $batch, $chain_id, block_number, log_index, token, token_id,
    sender[1:4]::bit::uinteger, sender[5:12]::bit::ubigint, sender[13:20]::bit::ubigint,
    recipient[1:4]::bit::uinteger, recipient[5:12]::bit::ubigint, recipient[13:20]::bit::ubigint,
    padded[size + 25 : size + 32]::bit::ubigint,
    padded[size + 17 : size + 24]::bit::ubigint,
    padded[size + 9 : size + 16]::bit::ubigint,
    padded[size + 1 : size + 8]::bit::ubigint,
    time_s
from (
    select
        f.*,
        '0x' || t.address as token,
        unhex('0000000000000000000000000000000000000000000000000000000000000000') || f.amount as padded,
        octet_length(f.amount) as size
    from serving.final_transfer f
    left join serving_rows($scan) t on t.token_id::integer = f.token_id
    where f.batch = $batch
)
order by token, block_number, log_index
