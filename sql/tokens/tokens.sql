-- name: complete_transfers
-- Sets the first complete block of tokens of $chain_id that are new in a span of the follow
-- stream that begins at $first: that block, or the token's first block if later.
update token
set transfers_from_block =
    case when first_seen_block < $first then $first else first_seen_block end
where chain_id = $chain_id and transfers_from_block is null

-- name: delete_token
-- Deletes the token $token_id.
delete from token where token_id = $token_id

-- name: find_by_id
-- One row: the token $token_id.
select
    token_id, chain_id, address, tracked_because, first_seen_block, transfers_from_block,
    requested_at_block
from token
where token_id = $token_id

-- name: find_newest
-- One row: the highest id of a token of any chain, below all ids that are added later; 0 if
-- there is none.
select coalesce(max(token_id), 0) from token

-- name: find_newest postgres
-- One row: the highest id of a token of $chain_id; 0 if there is none. Ids of other chains do
-- not serve: transactions of two chains may commit in another order than their ids.
select coalesce(max(token_id), 0) from token where chain_id = $chain_id

-- name: find_reasons
-- One row, or none: the reasons to track the token $address of $chain_id.
select
    token_id,
    tracked_because,
    requested_at_block is not null as is_requested,
    exists (
        select 1 from pool_side
        where pool_side.chain_id = $chain_id and pool_side.token = $address
    ) as has_pool,
    exists (
        select 1 from launch where launch.chain_id = $chain_id and launch.token = $address
    ) as has_launch,
    exists (
        select 1 from token_balance where token_balance.token_id = token.token_id
    ) as has_final_transfers
from token
where chain_id = $chain_id and address = $address

-- name: find_token
-- One row, or none: the tracked token $address on the chain $chain_id.
select
    token_id, chain_id, address, tracked_because, first_seen_block, transfers_from_block,
    requested_at_block
from token
where chain_id = $chain_id and address = $address

-- name: list_changes
-- One row per change to a token of $chain_id after the change $after: the current token, NULL if
-- it is no longer tracked.
select token_change.change, token_change.token_id, token.address, token.first_seen_block
from token_change
left join token on token.token_id = token_change.token_id
where token_change.change > $after and token_change.chain_id = $chain_id
order by token_change.change

-- name: list_places
-- One row for the first $at_most tracked tokens of $chain_id with an id above $above: the joined
-- addresses, and the hex of id and first block of each (8 bytes each). A row per token takes
-- five times as long to read. NULLs: there is none.
select
    cast(group_concat(cast(address as text), '') as blob),
    group_concat(printf('%016x%016x', token_id, first_seen_block), '')
from (
    select token_id, address, first_seen_block
    from token not indexed
    where token_id > $above and chain_id = $chain_id
    order by token_id
    limit $at_most
)

-- name: list_places postgres
-- As for SQLite: the joined addresses, and the hex of id and first block of each.
select
    string_agg(address, ''::bytea order by token_id),
    string_agg(
        lpad(to_hex(token_id), 16, '0') || lpad(to_hex(first_seen_block), 16, '0'), ''
        order by token_id
    )
from (
    select token_id, address, first_seen_block
    from token
    where token_id > $above and chain_id = $chain_id
    order by token_id
    limit $at_most
) as next_tokens

-- name: list_seen_from
-- One row per token of $chain_id that was first seen at or above $number: its address.
select address from token where chain_id = $chain_id and first_seen_block >= $number

-- name: list_tracked
-- One row per tracked token of $chain_id, by id.
select
    token_id, chain_id, address, tracked_because, first_seen_block, transfers_from_block,
    requested_at_block
from token
where chain_id = $chain_id
order by token_id

-- name: recomplete_transfers
-- Lowers the first complete block of tokens of $chain_id whose transfers were complete only from
-- above $first, the first block of a span of the follow stream: a reorg removed later blocks, or
-- the token was requested while the follower was behind.
update token
set transfers_from_block =
    case when first_seen_block < $first then $first else first_seen_block end
where chain_id = $chain_id and transfers_from_block > $first

-- name: set_reason
-- Sets the reason $because to track the token $token_id.
update token set tracked_because = $because where token_id = $token_id

-- name: set_transfers_from
-- Sets the first complete block of the token $token_id to $block_number, or keeps an earlier
-- one.
update token
set transfers_from_block = $block_number
where
    token_id = $token_id
    and (transfers_from_block is null or transfers_from_block > $block_number)

-- name: track_token
-- Tracks one token, by chain, address, reason, block and the block of a request. A tracked one
-- keeps the earliest block and the strongest reason: pool, launch, request.
insert into token (
    chain_id, address, tracked_because, first_seen_block, requested_at_block
)
values (?, ?, ?, ?, ?)
on conflict (chain_id, address) do update set
    first_seen_block = case
        when excluded.first_seen_block < token.first_seen_block
        then excluded.first_seen_block
        else token.first_seen_block
    end,
    tracked_because = case
        when excluded.tracked_because = 'pool' or token.tracked_because = 'request'
        then excluded.tracked_because
        else token.tracked_because
    end,
    requested_at_block = coalesce(token.requested_at_block, excluded.requested_at_block)

-- name: track_token postgres
-- As for SQLite. A tracked token takes no new id, and is written only if it changes: common
-- tokens are seen with every pool.
with known as (
    update token set
        first_seen_block = least(first_seen_block, ?4),
        tracked_because = case
            when ?3 = 'pool' or tracked_because = 'request' then ?3 else tracked_because
        end,
        requested_at_block = coalesce(requested_at_block, ?5)
    where
        chain_id = ?1 and address = ?2
        and (
            first_seen_block > ?4
            or (tracked_because <> ?3 and (?3 = 'pool' or tracked_because = 'request'))
            or (requested_at_block is null and ?5::bigint is not null)
        )
)
insert into token (chain_id, address, tracked_because, first_seen_block, requested_at_block)
select ?1, ?2, ?3, ?4, ?5
where not exists (select 1 from token where chain_id = ?1 and address = ?2)
