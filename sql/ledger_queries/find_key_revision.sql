-- One row: how often a key that was made before has been changed.
select revision from key_revision order by revision limit 1
