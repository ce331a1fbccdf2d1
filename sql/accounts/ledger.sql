-- name: add_calls
-- Adds the calls in :batch, a JSON array of [key_id, period, calls], to the counts.
insert into usage (key_id, period, calls)
select json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]')
from json_each(:batch)
where true
on conflict (key_id, period) do update set calls = calls + excluded.calls

-- name: add_calls postgres
-- Adds the calls in :batch, a JSON array of [key_id, period, calls], to the counts.
insert into usage (key_id, period, calls)
select (entry ->> 0)::bigint, entry ->> 1, sum((entry ->> 2)::bigint)
from jsonb_array_elements((:batch)::jsonb) as entry
group by 1, 2
on conflict (key_id, period) do update set calls = usage.calls + excluded.calls

-- name: count_account_keys
-- One row: the number of keys of :account_id that are live at :now_s, the number created after
-- :since_s, and the creation time of the oldest of these.
select
    count(*) filter (
        where api_key.revoked_at_s is null and coalesce(api_key.expires_at_s > :now_s, true)
    ) as live,
    count(*) filter (where api_key.created_at_s > :since_s) as recent,
    min(api_key.created_at_s) filter (where api_key.created_at_s > :since_s) as oldest_recent_s
from account_key
join api_key on api_key.key_id = account_key.key_id
where account_key.account_id = :account_id
order by live

-- name: delete_old_attempts
-- Deletes the attempts of all networks up to the minute :minute.
delete from attempt where minute <= :minute

-- name: delete_old_sessions
-- Deletes the sessions that have expired at :now_s, and all but the :most newest of :account_id.
delete from session
where
    expires_at_s <= :now_s
    or digest in (
        select digest
        from (
            select digest, row_number() over (order by expires_at_s desc, digest) as place
            from session
            where account_id = :account_id
        ) as ranked
        where place > :most
    )

-- name: delete_session
-- Deletes the session :digest.
delete from session where digest = :digest

-- name: find_key
-- One row, or none: the key with the digest :digest.
select key_id, digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator
from api_key
where digest = :digest
order by key_id
limit 1

-- name: find_key_revision
-- One row: the number of changes to existing keys.
select revision from key_revision order by revision limit 1

-- name: find_operator_key
-- One row, or none: an operator's key of :account_id that is live at :now_s.
select api_key.key_id
from account_key
join api_key on api_key.key_id = account_key.key_id
where
    account_key.account_id = :account_id
    and api_key.is_operator = 1
    and api_key.revoked_at_s is null
    and coalesce(api_key.expires_at_s > :now_s, true)
order by api_key.key_id
limit 1

-- name: find_session
-- One row, or none: the session :digest, if :issuer opened it and it has not expired at :now_s.
select session.account_id, session.shown_as
from session
join account on account.account_id = session.account_id
where session.digest = :digest and session.expires_at_s > :now_s and account.issuer = :issuer
order by session.digest
limit 1

-- name: find_trial_key
-- One row, or none: the trial key of :network.
select
    api_key.key_id, api_key.digest, api_key.plan, api_key.label, api_key.created_at_s,
    api_key.expires_at_s, api_key.revoked_at_s, api_key.is_operator
from trial
join api_key on api_key.key_id = trial.key_id
where trial.network = :network
order by api_key.key_id
limit 1

-- name: find_usage
-- One row: a JSON array of {key_id, lifetime, day, month}, the calls in total, on :day and in
-- :month of each key in the JSON array :key_ids that has any.
select
    json_group_array(
        json_object('key_id', key_id, 'lifetime', lifetime, 'day', day, 'month', month)
    ) as found
from (
    select
        key_id,
        sum(calls) filter (where period = 'all') as lifetime,
        coalesce(sum(calls) filter (where period = :day), 0) as day,
        coalesce(sum(calls) filter (where period = :month), 0) as month
    from usage
    where key_id in (select value from json_each(:key_ids)) and period in ('all', :day, :month)
    group by key_id
)
order by found

-- name: find_usage postgres
-- One row: a JSON array of {key_id, lifetime, day, month}, the calls in total, on :day and in
-- :month of each key in the JSON array :key_ids that has any.
select
    coalesce(
        json_agg(
            json_build_object('key_id', key_id, 'lifetime', lifetime, 'day', day, 'month', month)
        ),
        '[]'
    )::text as found
from (
    select
        key_id,
        coalesce(sum(calls) filter (where period = 'all'), 0) as lifetime,
        coalesce(sum(calls) filter (where period = :day), 0) as day,
        coalesce(sum(calls) filter (where period = :month), 0) as month
    from usage
    where
        key_id in (select jsonb_array_elements_text((:key_ids)::jsonb)::bigint)
        and period in ('all', :day, :month)
    group by key_id
) as counted

-- name: insert_account
-- One row: the account of the person with the id :subject at :issuer, created if it is new.
insert into account (issuer, subject, created_at_s)
values (:issuer, :subject, :created_at_s)
on conflict (issuer, subject) do update set subject = excluded.subject
returning account_id

-- name: insert_account_key
-- Records :key_id as a key of :account_id; :prefix is the part that may be displayed.
insert into account_key (key_id, account_id, prefix)
values (:key_id, :account_id, :prefix)

-- name: insert_key
-- One row: a new key with its number.
insert into api_key (digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator)
values (:digest, :plan, :label, :created_at_s, :expires_at_s, null, :is_operator)
returning key_id, digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator

-- name: insert_session
-- Stores a browser session of :account_id until :expires_at_s.
insert into session (digest, account_id, shown_as, expires_at_s)
values (:digest, :account_id, :shown_as, :expires_at_s)

-- name: insert_trial
-- Records :key_id as the trial key of :network.
insert into trial (network, key_id, reason, contact, issued_at_s)
values (:network, :key_id, :reason, :contact, :issued_at_s)

-- name: list_account_keys
-- One row per key of :account_id: those that are live at :now_s first, each kind newest first.
select
    api_key.key_id, api_key.digest, api_key.plan, api_key.label, api_key.created_at_s,
    api_key.expires_at_s, api_key.revoked_at_s, api_key.is_operator, account_key.prefix
from account_key
join api_key on api_key.key_id = account_key.key_id
where account_key.account_id = :account_id
order by
    api_key.revoked_at_s is null and coalesce(api_key.expires_at_s > :now_s, true) desc,
    api_key.key_id desc
limit :at_most

-- name: list_attempts
-- One row per minute after :minute with attempts of :network, newest first.
select minute, attempts
from attempt
where network = :network and minute > :minute
order by minute desc

-- name: list_keys
-- One row per key, oldest first.
select key_id, digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator
from api_key
order by key_id

-- name: note_attempt
-- Counts one attempt of :network in the minute :minute, up to :enough.
insert into attempt (network, minute, attempts)
values (:network, :minute, 1)
on conflict (network, minute) do update set attempts = attempt.attempts + 1
where attempt.attempts < :enough

-- name: revoke_account_key
-- One row, or none: the key :key_id of :account_id, revoked now at :revoked_at_s.
update api_key
set revoked_at_s = :revoked_at_s
where
    key_id = :key_id
    and revoked_at_s is null
    and exists (
        select 1 from account_key
        where account_key.key_id = api_key.key_id and account_key.account_id = :account_id
    )
returning key_id, digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator

-- name: revoke_key
-- One row, or none: the key :key_id, revoked now at :revoked_at_s.
update api_key
set revoked_at_s = :revoked_at_s
where key_id = :key_id and revoked_at_s is null
returning key_id, digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator

-- name: set_operator
-- One row, or none: the key :key_id, if it is live at :now_s; an operator's from now on if
-- :is_operator.
update api_key
set is_operator = :is_operator
where
    key_id = :key_id
    and revoked_at_s is null
    and coalesce(expires_at_s > :now_s, true)
returning key_id, digest, plan, label, created_at_s, expires_at_s, revoked_at_s, is_operator
