"""The store, opened for commands that write to it."""

from config.store_address import StoreAddress
from sql.analyst.query_runner import check_opens
from sql.engine.store import Store


def open_store(address: StoreAddress) -> Store:
    """Open the store and check that analysts' SQL can read it.

    Raises StoreError, also for a lake that belongs to another store.
    """
    store = Store.open(address)
    try:
        check_opens(address)
    except BaseException:
        store.close()
        raise
    return store
