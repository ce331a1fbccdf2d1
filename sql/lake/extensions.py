"""Paths of the DuckDB extensions, which are installed as Python packages of duckdb's version."""

from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import duckdb_extension_ducklake
import duckdb_extension_sqlite_scanner

from core.errors import StoreError


def extension_paths() -> tuple[Path, Path]:
    """Return the files of sqlite_scanner and ducklake, in loading order.

    Raises StoreError if a package is for another version of duckdb.
    """
    return (
        extension_path(duckdb_extension_sqlite_scanner, "sqlite_scanner"),
        ducklake_path(),
    )


def ducklake_path() -> Path:
    """Return the file of ducklake. Raises StoreError."""
    return extension_path(duckdb_extension_ducklake, "ducklake")


def sql_text(text: Path | str) -> str:
    """Return a path as a SQL string literal: LOAD and ATTACH take no parameters."""
    return "'" + str(text).replace("'", "''") + "'"


def extension_path(package: ModuleType, name: str) -> Path:
    """Return the file of an extension in its package. Raises StoreError if the package is for
    another version of duckdb."""
    # Without importing DuckDB, which callers that only start a child process do not need.
    inside = f"extensions/v{version('duckdb')}/{name}.duckdb_extension"
    path = Path(str(files(package))) / inside
    if not path.is_file():
        raise StoreError(path=str(path), reason="the extension is not for this version of duckdb")
    return path
