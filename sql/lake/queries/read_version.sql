-- One row: the newest step of the schema that this lake has.
select max(version) as version from lake.lake_version
