-- One row, or none: the session :digest, if :issuer opened it and it is not over at :now_s.
select session.account_id, session.shown_as
from session
join account on account.account_id = session.account_id
where session.digest = :digest and session.expires_at_s > :now_s and account.issuer = :issuer
order by session.digest
limit 1
