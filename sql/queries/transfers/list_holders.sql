-- One row per address that the transfers of $token_id leave with more than nothing, most first:
-- the sums of the four words of what came minus what went. Beside each the same of all of them
-- together but the zero address ($nobody), and how many of all sent more than came. Exact numbers
-- are the reader's work, as 256 bits fit no column; ranked is by the DOUBLE of the sums, so that what
-- came and went, be it ever so much, hides nothing.
with net as materialized (
    select
        owner_id, word0, word1, word2, word3,
        word0::double + word1::double * 2.0 ** 64 + word2::double * 2.0 ** 128
            + word3::double * 2.0 ** 192 as amount,
        owner_id is distinct from (select address_id from address where address = $nobody)
            as is_somebody
    from holding
    where token_id = $token_id
),
everybody as (
    select
        coalesce(sum(word0) filter (amount > 0), 0)::varchar as all0,
        coalesce(sum(word1) filter (amount > 0), 0)::varchar as all1,
        coalesce(sum(word2) filter (amount > 0), 0)::varchar as all2,
        coalesce(sum(word3) filter (amount > 0), 0)::varchar as all3,
        count(*) filter (amount < 0) as overdrawn
    from net
    where is_somebody
),
largest as (
    select owner_id, word0, word1, word2, word3, amount
    from net
    order by amount desc, owner_id
    limit $at_most
)
select
    address.address as owner,
    largest.word0::varchar as word0, largest.word1::varchar as word1,
    largest.word2::varchar as word2, largest.word3::varchar as word3,
    everybody.all0, everybody.all1, everybody.all2, everybody.all3, everybody.overdrawn
from largest
join address on address.address_id = largest.owner_id
cross join everybody
order by largest.amount desc, largest.owner_id
