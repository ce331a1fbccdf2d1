-- One row: what the transfers of $token_id leave with all addresses but the zero address ($nobody)
-- together, as sums of the four words, and how many of them sent more than came.
with net as (
    select
        holding.word0, holding.word1, holding.word2, holding.word3,
        holding.word0::double + holding.word1::double * 2.0 ** 64
            + holding.word2::double * 2.0 ** 128 + holding.word3::double * 2.0 ** 192 as amount
    from holding
    join address on address.address_id = holding.owner_id
    where holding.token_id = $token_id and address.address <> $nobody
)
select
    coalesce(sum(word0) filter (amount > 0), 0)::varchar as word0,
    coalesce(sum(word1) filter (amount > 0), 0)::varchar as word1,
    coalesce(sum(word2) filter (amount > 0), 0)::varchar as word2,
    coalesce(sum(word3) filter (amount > 0), 0)::varchar as word3,
    count(*) filter (amount < 0) as overdrawn
from net
order by overdrawn
