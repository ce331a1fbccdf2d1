-- Deletes what askers have left that ended before they could: after $kept_s seconds.
delete from inquiry where until < clock_timestamp() - make_interval(secs => $kept_s)
