-- As for SQLite.
select
    report.token_id,
    report.address as token,
    report.transfer_success,
    report.block_number as report_block,
    report.block_time_s as report_time_s,
    report.owner_address as owner,
    report.creator_address as creator
from token
cross join report on report.token_id = token.token_id
where
    token.chain_id = $chain_id
    and token.address = any (
        array(select decode(value, 'hex') from jsonb_array_elements_text($tokens::jsonb) as value)
    )
    and report.transfer_success is not null
