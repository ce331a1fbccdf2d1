-- name: delete_body
-- Removes the packed report on $token_id.
delete from report_body where token_id = $token_id

-- name: delete_finding
-- Removes the findings of the report on $token_id.
delete from report_finding where token_id = $token_id

-- name: delete_holder
-- Removes the holders of the report on $token_id.
delete from report_holder where token_id = $token_id

-- name: delete_judgement
-- Removes verdict and checks of the report on $token_id.
delete from judgement where token_id = $token_id

-- name: delete_pool
-- Removes the pools of the report on $token_id.
delete from report_pool where token_id = $token_id

-- name: delete_refusal
-- Removes the gate's last no for $token_id.
delete from refusal where token_id = $token_id

-- name: delete_report
-- Removes the single values of the report on $token_id.
delete from report where token_id = $token_id

-- name: find_body
-- One row, or none: the report on the token $address of $chain_id as JSON, packed by zstd.
select report_body.body
from token
join report_body on report_body.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address

-- name: find_refusal
-- One row, or none: the gate's last no for the token $address of $chain_id.
select refusal.code, refusal.reason, refusal.refused_at_s
from token
join refusal on refusal.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address

-- name: find_walletless_check
-- One row, or none: when the transfer check of the report on $token_id found no wallet to check with.
select transfer_checked_at_s as checked_at_s
from report
where token_id = $token_id and transfer_success is null and transfer_checked_at_s is not null

-- name: insert_body
-- Stores the report of the token $token_id as JSON, packed by zstd.
insert into report_body (token_id, body) values ($token_id, $body)
on conflict (token_id) do update set body = excluded.body

-- name: update_creator
-- The report of token $token_id, if it is still the one of block $block_hash: who made the token.
update report set creator_address = $creator, creator_balance_raw = $balance_raw
where token_id = $token_id and block_hash = $block_hash
