-- One row per address that the transfers of $token_id leave with more than nothing, most first:
-- the sums of the four words of what came minus what went. Beside each the same of all of them
-- together but the zero address ($nobody), and how many of all sent more than came. Exact numbers
-- are the reader's work, as 256 bits fit no column. The sign is that of the highest word once the
-- carries are moved up (a DOUBLE of sums of either sign loses small differences of large amounts);
-- ranked is by sign and by the DOUBLE of the carried words, so that what came and went, be it ever so
-- much, hides nothing.
with net as materialized (
    select
        owner_id, word0, word1, word2, word3,
        owner_id is distinct from (select address_id from address where address = $nobody)
            as is_somebody
    from holding
    where token_id = $token_id
),
once as (select net.*, word1 + (word0 >> 64) as sum1 from net),
twice as (select once.*, word2 + (sum1 >> 64) as sum2 from once),
carried as materialized (
    select
        twice.*,
        word0 & 18446744073709551615::hugeint as limb0,
        sum1 & 18446744073709551615::hugeint as limb1,
        sum2 & 18446744073709551615::hugeint as limb2,
        word3 + (sum2 >> 64) as limb3
    from twice
),
signed as materialized (
    select
        carried.*,
        case
            when limb3 < 0 then -1
            when limb0 = 0 and limb1 = 0 and limb2 = 0 and limb3 = 0 then 0
            else 1
        end as sign,
        limb0::double + limb1::double * 2.0 ** 64 + limb2::double * 2.0 ** 128
            + limb3::double * 2.0 ** 192 as amount
    from carried
),
everybody as (
    select
        coalesce(sum(word0) filter (sign > 0), 0)::varchar as all0,
        coalesce(sum(word1) filter (sign > 0), 0)::varchar as all1,
        coalesce(sum(word2) filter (sign > 0), 0)::varchar as all2,
        coalesce(sum(word3) filter (sign > 0), 0)::varchar as all3,
        count(*) filter (sign < 0) as overdrawn
    from signed
    where is_somebody
),
largest as (
    select owner_id, word0, word1, word2, word3, sign, amount
    from signed
    order by sign desc, amount desc, owner_id
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
order by largest.sign desc, largest.amount desc, largest.owner_id
