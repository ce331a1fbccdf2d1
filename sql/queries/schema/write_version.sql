-- Adds one row: the migration $version, by its file $name, has been applied.
insert into schema_version (version, name) values ($version, $name)
