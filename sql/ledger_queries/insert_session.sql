-- One browser of :account_id is signed in until :expires_at_s.
insert into session (digest, account_id, shown_as, expires_at_s)
values (:digest, :account_id, :shown_as, :expires_at_s)
