-- One row per token and owner that the transfers of a range touched, in order of both: what came
-- minus what went, as three unsigned words and a signed one on top. Sums of words are wider than a
-- word and may be negative; & and >> carry as two's complement does, which division would not.
with side as (
    select
        token_id, recipient_high as high, recipient_mid as mid, recipient_low as low,
        word0::hugeint as word0, word1::hugeint as word1, word2::hugeint as word2,
        word3::hugeint as word3
    from lake.transfer
    where batch = -$batch
    union all
    select
        token_id, sender_high, sender_mid, sender_low,
        -word0::hugeint, -word1::hugeint, -word2::hugeint, -word3::hugeint
    from lake.transfer
    where batch = -$batch
),
summed as (
    select
        token_id, high, mid, low,
        sum(word0)::hugeint as word0, sum(word1)::hugeint as word1,
        sum(word2)::hugeint as word2, sum(word3)::hugeint as word3
    from side
    where (token_id, high, mid, low) > ($token_id, $high, $mid, $low)
    group by token_id, high, mid, low
),
carried1 as (select *, word1 + (word0 >> 64) as carry1 from summed),
carried2 as (select *, word2 + (carry1 >> 64) as carry2 from carried1)
select
    token_id, high, mid, low,
    (word0 & 18446744073709551615)::ubigint as word0,
    (carry1 & 18446744073709551615)::ubigint as word1,
    (carry2 & 18446744073709551615)::ubigint as word2,
    word3 + (carry2 >> 64) as word3
from carried2
order by token_id, high, mid, low
