-- One row per address that the transfers of $token_id leave with more than nothing, most first:
-- the sums of the four words of what came minus what went. Exact sums are the reader's work, as
-- 256 bits fit no column; ranking goes by the DOUBLE.
with side as (
    select
        recipient_id as owner_id,
        sum(word0) as word0, sum(word1) as word1, sum(word2) as word2, sum(word3) as word3,
        sum(amount) as amount
    from transfer
    where token_id = $token_id
    group by recipient_id
    union all
    select
        sender_id as owner_id,
        -sum(word0) as word0, -sum(word1) as word1, -sum(word2) as word2, -sum(word3) as word3,
        -sum(amount) as amount
    from transfer
    where token_id = $token_id
    group by sender_id
),
net as (
    select
        owner_id,
        sum(word0) as word0, sum(word1) as word1, sum(word2) as word2, sum(word3) as word3,
        sum(amount) as amount
    from side
    group by owner_id
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
