-- One row: what the lake has of a batch, as counts and sums of its words.
select
    t.*,
    (select count(*) from lake.trade where batch = $batch and chain_id = $chain_id) as trades,
    (select count(*) from lake.undecoded where batch = $batch and chain_id = $chain_id) as undecoded
from (
    select
        count(*) as transfers,
        coalesce(sum(word0), 0) as word0, coalesce(sum(word1), 0) as word1,
        coalesce(sum(word2), 0) as word2, coalesce(sum(word3), 0) as word3,
        coalesce(sum(sender_high), 0) as sender_high,
        coalesce(sum(sender_mid), 0) as sender_mid,
        coalesce(sum(sender_low), 0) as sender_low,
        coalesce(sum(recipient_high), 0) as recipient_high,
        coalesce(sum(recipient_mid), 0) as recipient_mid,
        coalesce(sum(recipient_low), 0) as recipient_low
    from lake.transfer
    where batch = $batch and chain_id = $chain_id
) t
