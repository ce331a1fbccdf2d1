-- One row: the step of the schema that this lake has come to.
insert into lake.lake_version values ($version)
