"""Lock of the process that follows a chain into a store."""

from contextlib import AbstractContextManager

from sql.engine.process_lock import hold_lock
from sql.engine.store_files import StoreFiles


def hold_follow_lock(files: StoreFiles, chain_id: int) -> AbstractContextManager[None]:
    """Hold the lock for following a chain into the store, until this process ends at the latest.

    Raises StoreError; if another process follows it, with that process's number.
    """
    doing = f"follows chain {chain_id} into it"
    return hold_lock(files.follow_lock(chain_id), store=files.prefix, doing=doing)
