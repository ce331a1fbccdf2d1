-- name: delete_job
-- Deletes the job $job_id with its runs.
delete from job where job_id = $job_id

-- name: delete_old_runs
-- Deletes the ended runs of the job $job_id except for the newest $kept.
delete from job_run
where job_id = $job_id and ended_at_s is not null and run_id <= (
    select run_id from job_run
    where job_id = $job_id
    order by run_id desc
    limit 1 offset $kept
)

-- name: delete_token
-- Deletes a finished token of a run.
delete from job_token where run_id = ? and chain_id = ? and address = ?

-- name: delete_tokens
-- Deletes $at_most of the remaining tokens of the run $run_id.
delete from job_token
where run_id = $run_id and (chain_id, address) in (
    select chain_id, address from job_token where run_id = $run_id limit $at_most
)

-- name: end_unfinished
-- Ends the unfinished run of the job $job_id at $ended_at_s, because the job was redefined.
update job_run set
    ended_at_s = $ended_at_s,
    outcome = 'cut',
    is_held = 0,
    error = 'the job was changed during this run'
where job_id = $job_id and ended_at_s is null

-- name: find_job
-- One row, or none: the job $name.
select
    job_id, name, is_configured, is_paused, definition, created_at_s, due_s, is_requested,
    succeeded_at_s
from job
where name = $name

-- name: find_run
-- One row, or none: the run $run_id.
select
    run_id, job_id, cause, due_s, started_at_s, ended_at_s, outcome, is_held, cuts, is_selected,
    tokens, done, young, refused, failed, rows_exported, "overlaps", error
from job_run
where run_id = $run_id

-- name: find_token_state
-- One row, or none: the time of the last analysis or refusal of the token $address of $chain_id.
select report.scanned_at_s, report.is_settled, refusal.refused_at_s
from token
left join report on report.token_id = token.token_id
left join refusal on refusal.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address

-- name: find_unfinished
-- One row, or none: the unfinished run of the job $job_id.
select
    run_id, job_id, cause, due_s, started_at_s, ended_at_s, outcome, is_held, cuts, is_selected,
    tokens, done, young, refused, failed, rows_exported, "overlaps", error
from job_run
where job_id = $job_id and ended_at_s is null

-- name: find_unfinished_id
-- One row, or none: the number of the unfinished run of the job $job_id.
select run_id
from job_run
where job_id = $job_id and ended_at_s is null

-- name: insert_job
-- One row: a new job with its number.
insert into job (name, is_configured, is_paused, definition, created_at_s, due_s)
values ($name, $is_configured, $is_paused, $definition, $created_at_s, $due_s)
returning
    job_id, name, is_configured, is_paused, definition, created_at_s, due_s, is_requested,
    succeeded_at_s

-- name: insert_run
-- One row: a new run of the job $job_id with its number.
insert into job_run (job_id, cause, due_s, started_at_s, is_held)
values ($job_id, $cause, $due_s, $started_at_s, 1)
returning
    run_id, job_id, cause, due_s, started_at_s, ended_at_s, outcome, is_held, cuts, is_selected,
    tokens, done, young, refused, failed, rows_exported, "overlaps", error

-- name: insert_token
-- Adds a token to a run, once.
insert into job_token (run_id, chain_id, address) values (?, ?, ?)
on conflict do nothing

-- name: list_due
-- One row per job that is due at $now_s and not paused, the longest overdue first; at most
-- $at_most.
select
    job_id, name, is_configured, is_paused, definition, created_at_s, due_s, is_requested,
    succeeded_at_s
from job
where is_paused = 0 and due_s <= $now_s
order by due_s, job_id
limit $at_most

-- name: list_jobs
-- One row per job, by name.
select
    job_id, name, is_configured, is_paused, definition, created_at_s, due_s, is_requested,
    succeeded_at_s
from job
order by name

-- name: list_runs
-- One row per run of the job $job_id, newest first; at most $at_most.
select
    run_id, job_id, cause, due_s, started_at_s, ended_at_s, outcome, is_held, cuts, is_selected,
    tokens, done, young, refused, failed, rows_exported, "overlaps", error
from job_run
where job_id = $job_id
order by run_id desc
limit $at_most

-- name: list_tokens
-- One row per remaining token of the run $run_id on $chain_id; at most $at_most.
select chain_id, address
from job_token
where run_id = $run_id and chain_id = $chain_id
order by address
limit $at_most

-- name: list_unfinished
-- One row per unfinished run of a job that is not paused, oldest first.
select
    job_run.run_id, job_run.job_id, cause, job_run.due_s, started_at_s, ended_at_s, outcome, is_held,
    cuts, is_selected, tokens, done, young, refused, failed, rows_exported, "overlaps", error
from job_run
cross join job on job.job_id = job_run.job_id
where job_run.ended_at_s is null and job.is_paused = 0
order by job_run.job_id

-- name: put_run
-- Sets the mutable columns of the run $run_id.
update job_run set
    ended_at_s = $ended_at_s,
    outcome = $outcome,
    is_held = $is_held,
    cuts = $cuts,
    is_selected = $is_selected,
    tokens = $tokens,
    done = $done,
    young = $young,
    refused = $refused,
    failed = $failed,
    rows_exported = $rows_exported,
    "overlaps" = $overlaps,
    error = $error
where run_id = $run_id

-- name: redefine_job
-- Sets the definition of the job $job_id, its start $created_at_s and due time $due_s.
update job
set definition = $definition, created_at_s = $created_at_s, due_s = $due_s
where job_id = $job_id

-- name: set_due
-- Sets the due time $due_s of the next run of the job $job_id; $is_requested: it was requested.
update job set due_s = $due_s, is_requested = $is_requested where job_id = $job_id

-- name: set_paused
-- Pauses or resumes the job $job_id, due at $due_s.
update job set is_paused = $is_paused, due_s = $due_s, is_requested = 0 where job_id = $job_id

-- name: set_succeeded
-- Records the end $succeeded_at_s of a successful run of the job $job_id.
update job set succeeded_at_s = $succeeded_at_s where job_id = $job_id
