-- One row per migration that this file has been through.
create table schema_version (version integer not null, name varchar not null)
