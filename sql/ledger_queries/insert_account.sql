-- One row: the account of the person whom :issuer knows as :subject, made now if it is new.
insert into account (issuer, subject, created_at_s)
values (:issuer, :subject, :created_at_s)
on conflict (issuer, subject) do update set subject = excluded.subject
returning account_id
