-- One row for each of $inquiries that $holder still has, now for $lease_s seconds more.
update inquiry set expires_at = clock_timestamp() + make_interval(secs => $lease_s)
where inquiry = any($inquiries::bigint[]) and holder = $holder
returning inquiry
