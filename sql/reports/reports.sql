-- name: delete_body
-- Deletes the packed report on $token_id.
delete from report_body where token_id = $token_id

-- name: delete_finding
-- Deletes the findings of the report on $token_id.
delete from report_finding where token_id = $token_id

-- name: delete_holder
-- Deletes the holders of the report on $token_id.
delete from report_holder where token_id = $token_id

-- name: delete_judgement
-- Deletes verdict and checks of the report on $token_id.
delete from judgement where token_id = $token_id

-- name: delete_pool
-- Deletes the pools of the report on $token_id.
delete from report_pool where token_id = $token_id

-- name: delete_power
-- Deletes the powers of the report on $token_id.
delete from report_power where token_id = $token_id

-- name: delete_refusal
-- Deletes the last admission refusal of $token_id.
delete from refusal where token_id = $token_id

-- name: delete_report
-- Deletes the single values of the report on $token_id.
delete from report where token_id = $token_id

-- name: find_body
-- One row, or none: the report on the token $address of $chain_id, as JSON packed by zstd.
select report_body.body
from token
join report_body on report_body.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address

-- name: find_refusal
-- One row, or none: the last admission refusal of the token $address of $chain_id.
select refusal.code, refusal.reason, refusal.refused_at_s
from token
join refusal on refusal.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address

-- name: find_walletless_check
-- One row, or none: the time of the transfer check of the report on $token_id, if it found no
-- wallet.
select transfer_checked_at_s as checked_at_s
from report
where token_id = $token_id and transfer_success is null and transfer_checked_at_s is not null

-- name: insert_body
-- Stores the report of the token $token_id, as JSON packed by zstd.
insert into report_body (token_id, body) values ($token_id, $body)
on conflict (token_id) do update set body = excluded.body

-- name: update_creator
-- Sets the creator in the report of the token $token_id, if it is still that of block
-- $block_hash.
update report set creator_address = $creator, creator_balance_raw = $balance_raw
where token_id = $token_id and block_hash = $block_hash
