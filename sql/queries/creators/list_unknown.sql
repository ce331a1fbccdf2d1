-- One row per token on $chain_id whose settled report names no creator and whose making was not
-- looked up yet, the newest report first.
select report.address, report.block_hash
from report
where
    report.chain_id = $chain_id and report.is_settled and report.creator_address is null
    and not exists (
        select 1 from creator
        where creator.token = report.address and creator.chain_id = report.chain_id
    )
order by report.scanned_at_s desc, report.address
limit $at_most
