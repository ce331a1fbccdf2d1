-- name: delete_job
-- Removes the job $job_id with its runs.
delete from job where job_id = $job_id

-- name: delete_old_runs
-- Removes the runs of the job $job_id that are over, but for the newest $kept.
delete from job_run
where job_id = $job_id and ended_at_s is not null and run_id <= (
    select run_id from job_run
    where job_id = $job_id
    order by run_id desc
    limit 1 offset $kept
)

-- name: delete_token
-- Removes a token that a run has done.
delete from job_token where run_id = ? and chain_id = ? and address = ?

-- name: delete_tokens
-- Removes the tokens that the run $run_id has still to do; $at_most of them.
delete from job_token
where run_id = $run_id and (chain_id, address) in (
    select chain_id, address from job_token where run_id = $run_id limit $at_most
)

-- name: end_unfinished
-- The run of the job $job_id that is not over ends at $ended_at_s, as the job is another one now.
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
-- One row, or none: when the token $address of $chain_id was analysed last, or refused.
select report.scanned_at_s, report.is_settled, refusal.refused_at_s
from token
left join report on report.token_id = token.token_id
left join refusal on refusal.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address

-- name: find_unfinished
-- One row, or none: the run of the job $job_id that is not over.
select
    run_id, job_id, cause, due_s, started_at_s, ended_at_s, outcome, is_held, cuts, is_selected,
    tokens, done, young, refused, failed, rows_exported, "overlaps", error
from job_run
where job_id = $job_id and ended_at_s is null

-- name: find_unfinished_id
-- One row, or none: the number of the run of the job $job_id that is not over.
select run_id
from job_run
where job_id = $job_id and ended_at_s is null

-- name: insert_job
-- A new job; gives it back with its number.
insert into job (name, is_configured, is_paused, definition, created_at_s, due_s)
values ($name, $is_configured, $is_paused, $definition, $created_at_s, $due_s)
returning
    job_id, name, is_configured, is_paused, definition, created_at_s, due_s, is_requested,
    succeeded_at_s

-- name: insert_run
-- A new run of the job $job_id; gives it back with its number.
insert into job_run (job_id, cause, due_s, started_at_s, is_held)
values ($job_id, $cause, $due_s, $started_at_s, 1)
returning
    run_id, job_id, cause, due_s, started_at_s, ended_at_s, outcome, is_held, cuts, is_selected,
    tokens, done, young, refused, failed, rows_exported, "overlaps", error

-- name: insert_token
-- A token that a run has to do; once, however often it was selected.
insert into job_token (run_id, chain_id, address) values (?, ?, ?)
on conflict do nothing

-- name: list_due
-- One row per job that is due at $now_s and not paused; $at_most of them, the longest due first.
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
-- One row per run of the job $job_id, the newest first; $at_most of them.
select
    run_id, job_id, cause, due_s, started_at_s, ended_at_s, outcome, is_held, cuts, is_selected,
    tokens, done, young, refused, failed, rows_exported, "overlaps", error
from job_run
where job_id = $job_id
order by run_id desc
limit $at_most

-- name: list_tokens
-- One row per token of $chain_id that the run $run_id has still to do; $at_most of them.
select chain_id, address
from job_token
where run_id = $run_id and chain_id = $chain_id
order by address
limit $at_most

-- name: list_unfinished
-- One row per run that is not over, of jobs that are not paused; the oldest first.
select
    job_run.run_id, job_run.job_id, cause, job_run.due_s, started_at_s, ended_at_s, outcome, is_held,
    cuts, is_selected, tokens, done, young, refused, failed, rows_exported, "overlaps", error
from job_run
cross join job on job.job_id = job_run.job_id
where job_run.ended_at_s is null and job.is_paused = 0
order by job_run.job_id

-- name: put_run
-- Everything of the run $run_id that changes.
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
-- Another definition of the job $job_id, counted from $created_at_s and due at $due_s.
update job
set definition = $definition, created_at_s = $created_at_s, due_s = $due_s
where job_id = $job_id

-- name: set_due
-- The next run of the job $job_id is due at $due_s, and asked for by somebody if $is_requested.
update job set due_s = $due_s, is_requested = $is_requested where job_id = $job_id

-- name: set_paused
-- Pauses the job $job_id or resumes it; it is due at $due_s.
update job set is_paused = $is_paused, due_s = $due_s, is_requested = 0 where job_id = $job_id

-- name: set_succeeded
-- A run of the job $job_id did all it had to, and ended at $succeeded_at_s.
update job set succeeded_at_s = $succeeded_at_s where job_id = $job_id
