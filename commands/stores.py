"""Opening of the store for commands that write it, with the take-over of an earlier release's."""

from pathlib import Path

from commands.progress import progress_bars
from config.store_address import FileAddress, StoreAddress
from sql.analyst.query_runner import check_opens
from sql.duckdb_import.old_file import is_old_store
from sql.store import Store

_KEPT_SUFFIX = ".before-0.5"


def open_store(address: StoreAddress) -> Store:
    """Open the store, with what the DuckDB file of an earlier release at its path holds.

    The take-over shows a progress bar, can be stopped and resumed, and leaves the file beside the
    new ones under another name. Raises StoreError, also for a lake that is another store's.
    """
    store = Store.open(address)
    try:
        check_opens(address)
        if isinstance(address, FileAddress) and is_old_store(address.path):
            _take_over(address.path, store)
    except BaseException:
        store.close()
        raise
    return store


def _take_over(path: Path, store: Store) -> None:
    from sql.duckdb_import.import_store import import_store  # noqa: PLC0415 - seldom needed

    with progress_bars() as show:
        import_store(
            path, store, lambda table, done, total: show(f"taking over {table}", done, total)
        )
    path.rename(path.with_name(path.name + _KEPT_SUFFIX))
