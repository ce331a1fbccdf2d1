-- One row: the attempts of :network after the minute :minute.
select coalesce(sum(attempts), 0) as attempts
from attempt
where network = :network and minute > :minute
order by attempts
