-- One row: watches by what becomes of their messages.
select
    count(*) filter (where is_paused = 1) as paused,
    count(*) filter (where is_paused = 0 and failing_since_s is not null) as failing,
    count(*) filter (where is_paused = 0 and failing_since_s is null) as active
from watch
