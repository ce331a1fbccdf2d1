-- One row, or none: the number of the run of the job $job_id that is not over.
select run_id
from job_run
where job_id = $job_id and ended_at_s is null
