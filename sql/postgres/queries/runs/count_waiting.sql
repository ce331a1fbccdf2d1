-- One row for each chain with tokens that are asked for and that nobody judges: how many.
select chain_id, count(*) as waiting from analysis_run
where (wanted > 0 or is_awaited) and (holder is null or expires_at < clock_timestamp())
group by chain_id
