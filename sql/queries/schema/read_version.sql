-- One row: the newest migration this file has been through, NULL for none.
select max(version) as version from schema_version
