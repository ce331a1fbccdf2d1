"""A copy of a lake's catalogue in SQLite that is being made ready for PostgreSQL."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import duckdb
import msgspec

from core.errors import StoreError
from sql.backup.postgres.snapshot import LakeFile
from sql.lake.extensions import sql_text
from sql.lake.lake_file import connect_duckdb
from sql.lake.lake_statements import load_lake_statement

_MEMORY_MB: Final = 500
_FILES: Final = """
    with folder as (
        select tab.table_id,
            case when tab.path_is_relative then sch.path else '' end || tab.path as path
        from ducklake_table tab
        join ducklake_schema sch on sch.schema_id = tab.schema_id
        group by tab.table_id having tab.begin_snapshot = max(tab.begin_snapshot)
    )
    select case when file.path_is_relative then folder.path else '' end || file.path as name,
        file.file_size_bytes
    from (
        select table_id, path, path_is_relative, file_size_bytes from ducklake_data_file
        union
        select table_id, path, path_is_relative, file_size_bytes from ducklake_delete_file
    ) as file
    join folder on folder.table_id = file.table_id
    order by name
"""


class StagedCatalogue(msgspec.Struct, frozen=True, kw_only=True):
    """A catalogue, and what was written to files for it."""

    path: Path
    data: Path
    """Folder of the files that only this copy names; all others are the lake's."""

    def list_files(self) -> list[LakeFile]:
        """Return the files of all states that may still be read. Raises StoreError."""
        try:
            with closing(sqlite3.connect(self.path)) as connection:
                return [LakeFile(*row) for row in connection.execute(_FILES)]
        except sqlite3.Error as error:
            raise StoreError(path=str(self.path), reason=str(error)) from error


def write_inlined(staged: StagedCatalogue) -> None:
    """Write rows that are in the catalogue itself to files: each engine keeps such rows its own
    way. Raises StoreError."""
    options = f"data_path {sql_text(f'{staged.data}/')}, override_data_path true"
    attach = f"attach {sql_text(f'ducklake:sqlite:{staged.path}')} as lake ({options})"
    try:
        with closing(connect_duckdb(memory_mb=_MEMORY_MB, spill=None)) as connection:
            connection.execute(attach)
            connection.execute(load_lake_statement("flush_inlined"))
    except duckdb.Error as error:
        raise StoreError(path=str(staged.path), reason=str(error)) from error
