-- name: append_new_transfers
-- Writes the transfers of a range that are neither in the lake nor in the serving state.
insert into lake.transfer
select
    -$batch, $chain_id, incoming.block_number, incoming.log_index, token.text, incoming.token_id,
    incoming.sender_high, incoming.sender_mid, incoming.sender_low,
    incoming.recipient_high, incoming.recipient_mid, incoming.recipient_low,
    incoming.word0, incoming.word1, incoming.word2, incoming.word3,
    nullif(incoming.time_s, -1)
from incoming_transfer incoming
left join (
    select token_id, printf('0x%08x%016x%016x', high, mid, low) as text from incoming_token
) token on token.token_id = incoming.token_id
anti join (
    select block_number, log_index from stored_key
    union all
    select block_number, log_index from lake.transfer
    where chain_id = $chain_id and block_number between $from_block and $to_block
) stored
    on stored.block_number = incoming.block_number and stored.log_index = incoming.log_index
order by token.text, incoming.block_number, incoming.log_index

-- name: append_transfers
-- Writes the transfers of a range without stored ones, in their order.
insert into lake.transfer
select
    -$batch, $chain_id, incoming.block_number, incoming.log_index, token.text, incoming.token_id,
    incoming.sender_high, incoming.sender_mid, incoming.sender_low,
    incoming.recipient_high, incoming.recipient_mid, incoming.recipient_low,
    incoming.word0, incoming.word1, incoming.word2, incoming.word3,
    nullif(incoming.time_s, -1)
from incoming_transfer incoming
left join (
    select token_id, printf('0x%08x%016x%016x', high, mid, low) as text from incoming_token
) token on token.token_id = incoming.token_id

-- name: compare_store_ids
-- One row: the ids of the serving state and of the lake, NULL without one.
select
    (select max(store_id) from serving.store_identity) as serving_id,
    (select max(store_id) from lake.store_identity) as lake_id

-- name: copy_launches
-- Writes the launches that $scan reads from the serving state, without those in the lake.
insert into lake.launch
select
    $chain_id, '0x' || new.token, new.slug, '0x' || new.emitter,
    case when new.has_no_creator = '0' then '0x' || new.creator end,
    case when new.has_no_tx = '0' then '0x' || new.tx_hash end,
    new.block_number::bigint, new.log_index::integer
from serving_rows($scan) new
anti join lake.launch old
    on old.chain_id = $chain_id and old.token = '0x' || new.token and old.slug = new.slug
order by new.block_number::bigint, new.log_index::integer

-- name: copy_pools
-- Writes the pools that $scan reads from the serving state.
insert into lake.pool
select
    pool_no::integer, $chain_id, '0x' || pool_key, '0x' || pool,
    case when has_no_id = '0' then '0x' || pool_id end, dex, kind, variant,
    '0x' || factory, '0x' || token0, '0x' || token1, fee::bigint, tick_spacing::bigint,
    stable::integer::boolean, case when has_no_hooks = '0' then '0x' || hooks end,
    block_number::bigint, log_index::integer
from serving_rows($scan)
order by pool_no::integer

-- name: count_inlined
-- One row: the number of inlined rows in the catalogue, of all tables that only grow.
select
    (select count(*) from lake.pool) + (select count(*) from lake.launch)
    + (select count(*) from lake.moved) + (select count(*) from lake.bulk)
    - (
        select coalesce(sum(file.record_count), 0)
        from __ducklake_metadata_lake.ducklake_data_file file
        join __ducklake_metadata_lake.ducklake_table tab
            on tab.table_id = file.table_id and tab.end_snapshot is null
        where tab.table_name in ('pool', 'launch', 'moved', 'bulk') and file.end_snapshot is null
    ) as rows

-- name: delete_old_files
-- Deletes files that no snapshot has referred to since $before_s.
call ducklake_cleanup_old_files('lake', older_than => to_timestamp($before_s))

-- name: delete_orphans
-- Deletes files that no snapshot ever referred to, written before $before_s.
call ducklake_delete_orphaned_files('lake', older_than => to_timestamp($before_s))

-- name: delete_trades_to
-- Deletes the trades of a chain up to a time.
delete from lake.trade where chain_id = $chain_id and time_s <= $to_s

-- name: delete_transfers_to
-- Deletes the transfers of a chain up to a block.
delete from lake.transfer where chain_id = $chain_id and block_number <= $to_block

-- name: expire_snapshots
-- Deletes old snapshots of the lake; their files are deleted later.
call ducklake_expire_snapshots('lake', older_than => to_timestamp($before_s))

-- name: find_in_lake
-- One row: whether the lake has transfers of a chain in a range of blocks.
select exists (
    select 1 from lake.transfer
    where chain_id = $chain_id and block_number between $from_block and $to_block
) as is_there

-- name: find_incoming
-- One row: the number of transfers to write, with their first and last block; null if there are
-- none.
select count(*) as rows, min(block_number) as first_block, max(block_number) as last_block
from incoming_transfer

-- name: find_last_launch
-- One row: the newest block with a launch of a chain in the lake, -1 without one; and their
-- number.
select coalesce(max(block_number), -1) as block_number, count(*) as launches
from lake.launch
where chain_id = $chain_id

-- name: find_last_move
-- One row: the Unix time of the last moved batch of a chain; null: there was none.
select max(moved_at_s) as moved_at_s from lake.moved where chain_id = $chain_id

-- name: find_last_pool
-- One row: the newest pool of a chain in the lake; 0 without one.
select coalesce(max(pool_no), 0) as pool_no from lake.pool where chain_id = $chain_id

-- name: find_moved
-- One row, or none: the note of a moved batch.
select chain_id, transfers, amount_sum, sender_sum, recipient_sum, trades, undecoded
from lake.moved
where batch = $batch

-- name: flush_inlined
-- Writes inlined rows of the catalogue to files.
call ducklake_flush_inlined_data('lake')

-- name: insert_bulk
-- Stores the note of a back-filled range.
insert into lake.bulk values ($batch, $chain_id, $stream, $from_block, $to_block, $rows)

-- name: insert_moved
-- Stores the note of a moved batch.
insert into lake.moved
values (
    $batch, $chain_id, $transfers, $amount_sum, $sender_sum, $recipient_sum, $trades, $undecoded,
    $moved_at_s
)

-- name: list_bulks
-- One row per back-filled range with a number above $above, in order.
select batch, chain_id, stream, from_block, to_block, rows
from lake.bulk
where batch > $above
order by batch

-- name: list_data_files
-- One row per current Parquet file of a table with chains, oldest rows first, with the range of
-- blocks and times of its rows; null: the table has no such column.
select
    partition.partition_value::integer as chain_id,
    file.record_count as rows,
    file.file_size_bytes as bytes,
    min(stats.min_value::bigint) filter (col.column_name = 'block_number') as first_block,
    max(stats.max_value::bigint) filter (col.column_name = 'block_number') as last_block,
    max(stats.max_value::bigint) filter (col.column_name = 'time_s') as last_time_s
from __ducklake_metadata_lake.ducklake_data_file file
join __ducklake_metadata_lake.ducklake_table tab
    on tab.table_id = file.table_id and tab.end_snapshot is null
join __ducklake_metadata_lake.ducklake_file_partition_value partition
    on partition.data_file_id = file.data_file_id
left join __ducklake_metadata_lake.ducklake_column col
    on col.table_id = tab.table_id and col.end_snapshot is null
    and col.column_name in ('block_number', 'time_s')
left join __ducklake_metadata_lake.ducklake_file_column_stats stats
    on stats.data_file_id = file.data_file_id and stats.column_id = col.column_id
where tab.table_name = $table and file.end_snapshot is null
group by file.data_file_id, partition.partition_value, file.record_count, file.file_size_bytes
order by last_block, file.data_file_id

-- name: list_deltas
-- One row per token and owner in the transfers of a range, in order of both: the change of the
-- balance, as three unsigned words and a signed one on top. Sums of words are wider than a word
-- and may be negative; & and >> carry in two's complement, division would not.
with side as (
    select
        token_id, recipient_high as high, recipient_mid as mid, recipient_low as low,
        word0::hugeint as word0, word1::hugeint as word1, word2::hugeint as word2,
        word3::hugeint as word3
    from lake.transfer
    where batch = -$batch
    union all
    select
        token_id, sender_high, sender_mid, sender_low,
        -word0::hugeint, -word1::hugeint, -word2::hugeint, -word3::hugeint
    from lake.transfer
    where batch = -$batch
),
summed as (
    select
        token_id, high, mid, low,
        sum(word0)::hugeint as word0, sum(word1)::hugeint as word1,
        sum(word2)::hugeint as word2, sum(word3)::hugeint as word3
    from side
    where (token_id, high, mid, low) > ($token_id, $high, $mid, $low)
    group by token_id, high, mid, low
),
carried1 as (select *, word1 + (word0 >> 64) as carry1 from summed),
carried2 as (select *, word2 + (carry1 >> 64) as carry2 from carried1)
select
    token_id, high, mid, low,
    (word0 & 18446744073709551615)::ubigint as word0,
    (carry1 & 18446744073709551615)::ubigint as word1,
    (carry2 & 18446744073709551615)::ubigint as word2,
    word3 + (carry2 >> 64) as word3
from carried2
order by token_id, high, mid, low

-- name: list_files_of_batch
-- One row per file with rows of a batch.
select distinct filename from lake.transfer where batch = $batch and chain_id = $chain_id
union all
select distinct filename from lake.trade where batch = $batch and chain_id = $chain_id
union all
select distinct filename from lake.undecoded where batch = $batch and chain_id = $chain_id
order by filename

-- name: list_files_of_bulk
-- One row per file with rows of a range.
select distinct filename from lake.transfer where batch = -$batch and chain_id = $chain_id

-- name: list_growth
-- One row per chain with rows moved since $since_s: their number.
select chain_id, sum(transfers + trades + undecoded)::bigint as rows
from lake.moved
where moved_at_s >= $since_s
group by chain_id
order by chain_id

-- name: list_sizes
-- One row per table and chain: its files, their rows and bytes.
select
    partition.partition_value::integer as chain_id,
    tab.table_name as table_name,
    count(*) as files,
    sum(file.record_count)::bigint as rows,
    sum(file.file_size_bytes)::bigint as bytes
from __ducklake_metadata_lake.ducklake_data_file file
join __ducklake_metadata_lake.ducklake_table tab
    on tab.table_id = file.table_id and tab.end_snapshot is null
join __ducklake_metadata_lake.ducklake_file_partition_value partition
    on partition.data_file_id = file.data_file_id
where file.end_snapshot is null
group by all
order by all

-- name: list_small_files
-- One row per table and chain: the number of its files below $max_bytes. chain_id null: all
-- chains.
select tab.table_name as table_name, partition.partition_value as chain, count(*) as files
from __ducklake_metadata_lake.ducklake_data_file file
join __ducklake_metadata_lake.ducklake_table tab
    on tab.table_id = file.table_id and tab.end_snapshot is null
left join __ducklake_metadata_lake.ducklake_file_partition_value partition
    on partition.data_file_id = file.data_file_id
where file.end_snapshot is null and file.file_size_bytes < $max_bytes
group by all
order by all

-- name: list_tables
-- One row per table of the lake.
select table_name from duckdb_tables() where database_name = 'lake' order by table_name

-- name: list_trade_places
-- One row per trade of a chain in the lake in a range of blocks.
select block_number, log_index from lake.trade
where chain_id = $chain_id and block_number between $from_block and $to_block

-- name: list_undecoded_places
-- One row per undecoded log of a chain in the lake in a range of blocks.
select block_number, log_index from lake.undecoded
where chain_id = $chain_id and block_number between $from_block and $to_block

-- name: merge_files
-- One row, or none: neighbouring files of a table below $max_bytes, merged into one.
select table_name, files_processed, files_created
from ducklake_merge_adjacent_files(
    'lake', $table, max_compacted_files => 1, max_file_size => $max_bytes
)

-- name: move_trades
-- Writes the trades of a batch; $scan reads their pools from the serving state.
insert into lake.trade
select
    $batch, $chain_id, f.block_number, f.log_index, f.time_s, f.pool_no, '0x' || p.pool_key, p.dex,
    p.kind, '0x' || p.token0, '0x' || p.token1, f.amount0, f.amount1,
    '0x' || lower(hex(f.trader)), '0x' || lower(hex(f.tx_hash))
from serving.final_trade f
left join serving_rows($scan) p on p.pool_no::integer = f.pool_no
where f.batch = $batch
order by p.pool_key, f.block_number, f.log_index

-- name: move_transfers
-- Writes the transfers of a batch; $scan reads its tokens from the serving state. An amount is
-- the shortest signed big-endian number: padded in front, its last 32 bytes are the four words.
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

-- name: move_undecoded
-- Writes the undecoded logs of a batch.
insert into lake.undecoded
select
    $batch, $chain_id, block_number, log_index, '0x' || lower(hex(address)),
    '0x' || lower(hex(topic0)), topic_count, '0x' || lower(hex(data))
from serving.final_undecoded
where batch = $batch
order by block_number, log_index

-- name: name_lease
-- Adds the lease to the commit of this transaction.
call ducklake_set_commit_message('lake', 'assay', 'under a lease', extra_info => $lease)

-- name: next_bulk
-- One row: the number of the next back-filled range.
select coalesce(max(batch), 0) + 1 as batch from lake.bulk

-- name: read_store_id
-- One row, or none: the id of the lake's store.
select store_id from lake.store_identity limit 1

-- name: read_version
-- One row: the last applied migration of this lake.
select max(version) as version from lake.lake_version

-- name: rewrite_files
-- Rewrites files with more than a third of deleted rows.
select table_name, files_processed, files_created
from ducklake_rewrite_data_files('lake', $table, delete_threshold => 0.34)

-- name: sum_batch
-- One row: counts and sums of words of a batch in the lake.
select
    t.*,
    (select count(*) from lake.trade where batch = $batch and chain_id = $chain_id) as trades,
    (select count(*) from lake.undecoded where batch = $batch and chain_id = $chain_id) as undecoded
from (
    select
        count(*) as transfers,
        coalesce(sum(word0), 0) as word0, coalesce(sum(word1), 0) as word1,
        coalesce(sum(word2), 0) as word2, coalesce(sum(word3), 0) as word3,
        coalesce(sum(sender_high), 0) as sender_high,
        coalesce(sum(sender_mid), 0) as sender_mid,
        coalesce(sum(sender_low), 0) as sender_low,
        coalesce(sum(recipient_high), 0) as recipient_high,
        coalesce(sum(recipient_mid), 0) as recipient_mid,
        coalesce(sum(recipient_low), 0) as recipient_low
    from lake.transfer
    where batch = $batch and chain_id = $chain_id
) t

-- name: write_store_id
-- Stores the id of the lake's store.
insert into lake.store_identity values ($store_id)

-- name: write_version
-- Records the last applied migration of this lake.
insert into lake.lake_version values ($version)
