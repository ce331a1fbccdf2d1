-- One row per address that the transfers of $token_id leave with more than nothing, most first:
-- the sums of the four words of what came minus what went. Exact numbers are the reader's work, as
-- 256 bits fit no column; ranked is by the DOUBLE of the sums, so that what came and went, be it ever
-- so much, hides nothing.
with net as (
    select
        owner_id, word0, word1, word2, word3,
        word0::double + word1::double * 2.0 ** 64 + word2::double * 2.0 ** 128
            + word3::double * 2.0 ** 192 as amount
    from holding
    where token_id = $token_id
    order by amount desc, owner_id
    limit $at_most
)
select
    address.address as owner,
    net.word0::varchar as word0, net.word1::varchar as word1,
    net.word2::varchar as word2, net.word3::varchar as word3
from net
join address on address.address_id = net.owner_id
order by net.amount desc, net.owner_id
