-- One row per address that the transfers of $token_id leave with more than nothing, most first:
-- the sums of the four words of what came minus what went. Beside each the same of all of them
-- together but the zero address ($nobody), and how many of all sent more than came. Exact numbers
-- are the reader's work, as 256 bits fit no column; ranked is by the DOUBLE of the sums, so that what
-- came and went, be it ever so much, hides nothing.
with net as (
    select
        owner_id, word0, word1, word2, word3,
        word0::double + word1::double * 2.0 ** 64 + word2::double * 2.0 ** 128
            + word3::double * 2.0 ** 192 as amount,
        owner_id is distinct from (select address_id from address where address = $nobody)
            as is_somebody
    from holding
    where token_id = $token_id
),
ranked as (
    select
        owner_id, word0, word1, word2, word3, amount,
        sum(word0) filter (is_somebody and amount > 0) over () as all0,
        sum(word1) filter (is_somebody and amount > 0) over () as all1,
        sum(word2) filter (is_somebody and amount > 0) over () as all2,
        sum(word3) filter (is_somebody and amount > 0) over () as all3,
        count(*) filter (is_somebody and amount < 0) over () as overdrawn
    from net
    order by amount desc, owner_id
    limit $at_most
)
select
    address.address as owner,
    ranked.word0::varchar as word0, ranked.word1::varchar as word1,
    ranked.word2::varchar as word2, ranked.word3::varchar as word3,
    coalesce(ranked.all0, 0)::varchar as all0, coalesce(ranked.all1, 0)::varchar as all1,
    coalesce(ranked.all2, 0)::varchar as all2, coalesce(ranked.all3, 0)::varchar as all3,
    ranked.overdrawn
from ranked
join address on address.address_id = ranked.owner_id
order by ranked.amount desc, ranked.owner_id
