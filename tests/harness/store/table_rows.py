"""All rows of all tables."""

from sql.engine.store import Store
from tests.harness.store.store_contents import Cells, read_rows, table_names


def all_tables(store: Store) -> dict[str, list[Cells]]:
    """Each table of the file, as it is."""
    return {
        name: sorted(read_rows(store, f"select * from {name}"), key=repr)  # noqa: S608
        for name in table_names(store)
        if name != "store_identity"
    }
