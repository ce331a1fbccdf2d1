-- One row per address of the dictionary.
select rowid, address_id, address
from address
where rowid > $above and rowid <= $up_to
order by rowid
