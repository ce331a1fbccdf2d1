"""Restoring of a store in PostgreSQL, into an empty database."""

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from config.store_address import PostgresAddress
from core.errors import StoreError
from sql.backup.file_copies import open_copies
from sql.backup.manifest import DUMP, LAKE_DATA, DumpedDatabase, Manifest, read_manifest
from sql.backup.postgres.server_programs import check_program, run_program
from sql.lake.postgres.lake_catalogue import LakeCatalogue, find_catalogue, make_schema
from sql.lake.postgres.lake_in_postgres import DatabasePlace


def load_dump(
    folder: Path,
    address: PostgresAddress,
    *,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Manifest:
    """Create a store from a back-up; `progress` receives copied and total bytes.

    Overwrites nothing: the database must have no store, and the lake's place no files of another.
    The database is filled last, in one transaction, so an interrupted call leaves no store and can
    be repeated. Raises StoreError.
    """
    manifest = read_manifest(folder)
    if manifest.database is None:
        reason = "is of a store in files; restore it as such, then `assay move-store` it"
        raise StoreError(path=str(folder), reason=reason)
    place, url = DatabasePlace(address), address.url.value
    catalogue = find_catalogue(url)
    _check_target(catalogue, manifest.database, place)
    check_program("pg_restore", url)
    parquet = [file for file in manifest.files if file.path != DUMP]
    done = 0
    try:
        with open_copies(place) as copies:
            names = {_below_lake(file.path) for file in parquet}
            others = copies.list_files() - names
            if others:
                reason = f"has files of another lake ({min(others)}); name an empty place"
                raise StoreError(path=place.data_folder(), reason=reason)
            for file in parquet:
                copies.put_file(folder / file.path, _below_lake(file.path))
                done += file.bytes
                progress(done, manifest.bytes)
    except OSError as error:
        raise StoreError(path=place.data_folder(), reason=str(error)) from error
    _restore(url, catalogue, manifest.database, folder / DUMP)
    progress(manifest.bytes, manifest.bytes)
    return manifest


def _check_target(catalogue: LakeCatalogue, database: DumpedDatabase, place: DatabasePlace) -> None:
    if catalogue.has_serving or catalogue.has_lake:
        reason = "holds a store already; restore to an empty database"
        raise StoreError(path=place.serving_name, reason=reason)
    if catalogue.serving != database.schema:
        reason = (
            f"the back-up's tables are in schema {database.schema}, and this connection makes its "
            f"own in {catalogue.serving}; its search path has to begin with the same"
        )
        raise StoreError(path=place.serving_name, reason=reason)


def _below_lake(path: str) -> str:
    """Return the name of a file below the lake's place. Raises StoreError for other files."""
    try:
        return PurePosixPath(path).relative_to(LAKE_DATA).as_posix()
    except ValueError as error:
        raise StoreError(path=path, reason="is no file of a lake") from error


def _restore(url: str, catalogue: LakeCatalogue, database: DumpedDatabase, dump: Path) -> None:
    schemas = [database.schema]
    if database.lake_schema is not None:
        make_schema(url, catalogue)
        schemas.append(database.lake_schema)
    run_program(
        "pg_restore",
        url,
        [
            *("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"),
            # Without the schemas themselves, which exist.
            *(f"--schema={name}" for name in schemas),
            str(dump),
        ],
    )
