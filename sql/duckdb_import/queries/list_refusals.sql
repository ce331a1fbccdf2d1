-- One row per refused token.
select rowid, token_id, code, reason, refused_at_s
from refusal
where rowid > $above and rowid <= $up_to
order by rowid
