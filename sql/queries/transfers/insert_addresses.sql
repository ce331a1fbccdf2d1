-- One new row per address of incoming_transfer that the dictionary lacks, numbered on from the
-- highest number there is.
insert into address (address_id, address)
select
    (select coalesce(max(address_id), 0) from address) + row_number() over (order by seen.address),
    seen.address
from (
    select sender as address from incoming_transfer
    union
    select recipient as address from incoming_transfer
) seen
where not exists (select 1 from address known where known.address = seen.address)
order by seen.address
