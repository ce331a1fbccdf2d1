-- name: count_last_day
-- One row: sales, buys and their distinct traders among the $at_most newest trades of the token
-- $token_id since $since_s (Unix seconds) that are final, and as many that are not, up to the block
-- $up_to.
select
    cast(coalesce(sum(is_sale), 0) as bigint) as sales,
    cast(coalesce(sum(1 - is_sale), 0) as bigint) as buys,
    count(distinct case when is_sale = 1 then trader end) as sellers,
    count(distinct case when is_sale = 0 then trader end) as buyers
from (
    select is_sale, trader
    from (
        select is_sale, trader
        from last_trade
        where token_id = $token_id and time_s > $since_s and block_number <= $up_to
        order by time_s desc
        limit $at_most
    ) known
    union all
    select is_sale, trader
    from (
        select is_sale, trader
        from real_trade
        where token_id = $token_id and time_s > $since_s and block_number <= $up_to
        order by time_s desc
        limit $at_most
    ) known
) known

-- name: count_spread
-- One row: the sellers that the days of the token $token_id have counted, at most $per_day of each.
select
    cast(
        coalesce(sum(case when sellers < $per_day then sellers else $per_day end), 0) as bigint
    ) as sellers
from trade_day
where token_id = $token_id

-- name: delete_from
-- Deletes the trades of $chain_id from the block $number on.
delete from real_trade where chain_id = $chain_id and block_number >= $number

-- name: delete_hot
-- Deletes one trade that has become final.
delete from real_trade where chain_id = ? and block_number = ? and log_index = ?

-- name: delete_of_token
-- Deletes the trades of the token $token_id that are not final yet.
delete from real_trade where token_id = $token_id

-- name: delete_old
-- Deletes $at_most of the final trades of $chain_id that are older than the newest stored block by
-- more than $kept_s.
delete from last_trade
where (token_id, time_s, block_number, log_index) in (
    select token_id, time_s, block_number, log_index
    from last_trade
    where
        chain_id = $chain_id
        and time_s < (
            select time_s from block where chain_id = $chain_id order by number desc limit 1
        ) - $kept_s
    order by time_s
    limit $at_most
)

-- name: find_day
-- One row, or none: the traders that a day of a token has counted.
select sellers, buyers from trade_day where token_id = ? and day = ?

-- name: find_newest_time
-- One row, or none: the time of the newest stored block of $chain_id.
select time_s from block where chain_id = $chain_id order by number desc limit 1

-- name: find_party
-- One row, or none: the days that have counted a trader of a token.
select seller_day, buyer_day from trade_party where token_id = ? and trader = ?

-- name: find_record
-- One row, or none: the sums over the final trades of the token $token_id.
select first_block, first_time_s, sales, buys, sellers, buyers
from trade_record
where token_id = $token_id

-- name: find_sums
-- One row, or none: the sums over the final trades of a token.
select first_block, first_time_s, sales, buys, sellers, buyers from trade_record where token_id = ?

-- name: insert_last
-- Stores one final trade of the last day.
insert into last_trade (
    chain_id, block_number, log_index, token_id, is_sale, trader, time_s
)
values (?, ?, ?, ?, ?, ?, ?)
on conflict do nothing

-- name: insert_trade
-- Stores one trade unless it is stored.
insert into real_trade (
    chain_id, block_number, log_index, token_id, is_sale, trader, time_s
)
values (?, ?, ?, ?, ?, ?, ?)
on conflict do nothing

-- name: list_final
-- One row per trade among the first $at_most of $chain_id up to block $final.
select block_number, log_index, token_id, is_sale, trader, time_s
from real_trade
where chain_id = $chain_id and block_number <= $final
order by block_number, log_index
limit $at_most

-- name: put_day
-- Sets the traders that a day of a token has counted.
insert into trade_day (token_id, day, sellers, buyers) values (?, ?, ?, ?)
on conflict (token_id, day) do update set sellers = excluded.sellers, buyers = excluded.buyers

-- name: put_party
-- Sets the days that have counted a trader of a token.
insert into trade_party (token_id, trader, seller_day, buyer_day) values (?, ?, ?, ?)
on conflict (token_id, trader) do update set
    seller_day = excluded.seller_day, buyer_day = excluded.buyer_day

-- name: put_sums
-- Sets the sums over the final trades of a token.
insert into trade_record (
    token_id, first_block, first_time_s, sales, buys, sellers, buyers
)
values (?, ?, ?, ?, ?, ?, ?)
on conflict (token_id) do update set
    first_block = excluded.first_block,
    first_time_s = excluded.first_time_s,
    sales = excluded.sales,
    buys = excluded.buys,
    sellers = excluded.sellers,
    buyers = excluded.buyers
