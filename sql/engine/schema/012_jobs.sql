-- Scheduled jobs, their runs, and the remaining tokens of runs.

create table job (
    job_id integer primary key autoincrement,
    name text not null unique,
    -- 1: of the configuration, which alone can change or remove it
    is_configured integer not null,
    is_paused integer not null,
    -- JSON of a JobDefinition
    definition text not null,
    -- intervals are counted from here
    created_at_s integer not null,
    -- next run; one that was missed is made up for once
    due_s integer not null,
    -- 1: the next run was requested, and does not wait for the schedule
    is_requested integer not null default 0,
    -- end of the last run that did all it had to; null: none has
    succeeded_at_s integer
);
create index job_by_due on job (due_s) where is_paused = 0;

create table job_run (
    run_id integer primary key autoincrement,
    job_id integer not null references job (job_id) on delete cascade,
    -- schedule or request
    cause text not null,
    due_s integer not null,
    started_at_s integer not null,
    -- null: not over
    ended_at_s integer,
    -- null: not over; else succeeded, partly_failed, failed or cut
    outcome text,
    -- 1: a process is at it, or was when it ended
    is_held integer not null,
    -- how often such a process ended since a token was done last
    cuts integer not null default 0,
    -- 1: its tokens are in job_token, or done
    is_selected integer not null default 0,
    tokens integer not null default 0,
    done integer not null default 0,
    young integer not null default 0,
    refused integer not null default 0,
    failed integer not null default 0,
    rows_exported integer not null default 0,
    -- due times during the run, which were skipped
    overlaps integer not null default 0,
    error text
);
create unique index job_run_unfinished on job_run (job_id) where ended_at_s is null;
create index job_run_by_job on job_run (job_id, run_id);

create table job_token (
    run_id integer not null references job_run (run_id) on delete cascade,
    chain_id integer not null,
    address blob not null,
    primary key (run_id, chain_id, address)
) without rowid;
