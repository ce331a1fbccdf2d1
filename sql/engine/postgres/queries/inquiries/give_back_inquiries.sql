-- Gives back what $holder, which ends, has begun; other processes go on with it.
update inquiry set holder = null, expires_at = null where holder = $holder and answer is null
