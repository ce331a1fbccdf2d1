-- Notes that the lake has the rows of a batch.
insert into lake.moved
values (
    $batch, $chain_id, $transfers, $amount_sum, $sender_sum, $recipient_sum, $trades, $undecoded,
    $moved_at_s
)
