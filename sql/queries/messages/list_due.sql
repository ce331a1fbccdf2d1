-- One row per watch that has a message to send by $now_s, the longest overdue first.
select id, url, secret
from watch
where due_s <= $now_s
order by due_s
limit $at_most
