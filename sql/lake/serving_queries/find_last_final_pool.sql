-- One row: the number before the first pool of a chain that may still be reorganised away; if there
-- is none such, the newest pool's.
select coalesce(
    (
        select min(pool_no) - 1 from pool
        where chain_id = :chain_id
        and block_number >= (select min(number) from block where chain_id = :chain_id)
    ),
    (select max(pool_no) from pool)
) as pool_no
