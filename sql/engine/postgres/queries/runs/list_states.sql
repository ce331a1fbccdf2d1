-- One row for each of the tokens $addresses of the chains $chain_ids that was ever asked for: who
-- judges it, and how its last run ended.
select
    known.chain_id, known.address, known.run, known.is_anew,
    coalesce(known.expires_at > clock_timestamp(), false) as is_running,
    known.wanted > 0 as is_wanted,
    known.ended_run, known.ended_anew, known.outcome, known.code, known.service, known.reason,
    extract(epoch from clock_timestamp() - known.ended_at)::double precision as ended_s
from unnest($chain_ids::bigint[], $addresses::bytea[]) as asked (chain_id, address)
join analysis_run as known on known.chain_id = asked.chain_id and known.address = asked.address
