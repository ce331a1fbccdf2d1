-- One row: the number of a new inquiry about $chain_id, whose asker waits $within_s seconds. None:
-- $at_most about the chain are waiting already.
insert into inquiry (chain_id, kind, question, until)
select $chain_id, $kind, $question, clock_timestamp() + make_interval(secs => $within_s)
where (
    select count(*) from (
        select 1 from inquiry
        where chain_id = $chain_id and answer is null and until > clock_timestamp()
        limit $at_most
    ) as waiting
) < $at_most
returning inquiry
