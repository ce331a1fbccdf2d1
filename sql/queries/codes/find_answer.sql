-- One row, or none: the static answers for the code $code_hash at the detectors' $version.
select code_hash, version, findings
from code_answer
where code_hash = $code_hash and version = $version
order by version
limit 1
