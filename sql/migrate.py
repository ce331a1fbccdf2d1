"""Schema migration of a store file: applies the missing migrations in one transaction."""

from pathlib import Path

import duckdb

from core.errors import StoreError
from sql.statements import load_migrations, load_statement


def migrate(root: duckdb.DuckDBPyConnection, path: Path, *, read_only: bool) -> None:
    """Apply every migration the file lacks, all in one transaction.

    Raises StoreError for a file written by a newer release, a file that is not a store, and an
    older one opened read-only.
    """
    known = load_migrations()
    version = _read_version(root, path)
    if version > len(known):
        reason = f"a newer release wrote it (schema {version}; this one knows {len(known)})"
        raise StoreError(path=str(path), reason=reason)
    if version == len(known):
        return
    if read_only:
        reason = f"its schema {version} is older than {len(known)}; open it once for writing"
        raise StoreError(path=str(path), reason=reason)
    root.begin()
    try:
        if version == 0:
            root.execute(load_statement("schema/create_version"))
        for migration in known[version:]:
            root.execute(migration.text)
            root.execute(
                load_statement("schema/write_version"),
                {"version": migration.version, "name": migration.name},
            )
        root.commit()
    except BaseException:
        root.rollback()
        raise


def _read_version(root: duckdb.DuckDBPyConnection, path: Path) -> int:
    """Return the schema version of the file; 0 if it is empty."""
    tables = {name for (name,) in root.execute(load_statement("schema/list_tables")).fetchall()}
    if not tables:
        return 0
    if "schema_version" not in tables:
        raise StoreError(path=str(path), reason="it is a DuckDB file, but not one of ours")
    found = root.execute(load_statement("schema/read_version")).fetchone()
    return int(found[0]) if found and found[0] is not None else 0
