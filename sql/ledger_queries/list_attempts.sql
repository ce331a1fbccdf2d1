-- One row per minute after :minute in which :network tried, newest first.
select minute, attempts
from attempt
where network = :network and minute > :minute
order by minute desc
