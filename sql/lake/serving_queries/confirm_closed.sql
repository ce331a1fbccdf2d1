-- Writes again that a batch is closed, so that the commit puts all before it on disk.
update batch set is_closed = 1 where batch = :batch and is_closed = 1 returning batch
