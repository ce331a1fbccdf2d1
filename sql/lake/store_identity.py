"""Identity of a store: lake and serving state have the same random id.

It keeps a lake from being used with the serving state of another store, whose numbers of batches
and tokens differ.
"""

import duckdb

from core.errors import StoreError
from sql.lake.lake_place import LakePlace
from sql.lake.lake_statements import load_lake_statement


def tie_lake(
    connection: duckdb.DuckDBPyConnection, place: LakePlace, serving_id: str | None
) -> None:
    """Set the id of a lake without one. Raises StoreError if it has another id, duckdb.Error if it
    cannot be read."""
    if serving_id is None:
        return
    found = connection.execute(load_lake_statement("read_store_id")).fetchone()
    if found is None:
        text = load_lake_statement("write_store_id")
        connection.execute(text, {"store_id": serving_id})
    else:
        _compare(place, serving_id, str(found[0]))


def check_lake(connection: duckdb.DuckDBPyConnection, place: LakePlace) -> None:
    """Check that the attached `serving` and `lake` belong to one store.

    Passes if an earlier release wrote one of them without an id. Raises StoreError, duckdb.Error.
    """
    try:
        found = connection.execute(load_lake_statement("compare_store_ids")).fetchone()
    except duckdb.CatalogException:
        return
    if found and None not in found:
        _compare(place, *found)


def _compare(place: LakePlace, serving_id: str, lake_id: str) -> None:
    if serving_id != lake_id:
        reason = (
            f"this lake is of store {lake_id}, and {place.serving_name} of store {serving_id}. "
            "Put back the files of one store, both from one back-up; or, if the serving state is "
            "a new one, "
            f"move {place.name} and {place.data_folder().rstrip('/')} away as well"
        )
        raise StoreError(path=place.name, reason=reason)
