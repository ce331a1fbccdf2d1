"""Lock by which one process at a time follows a chain into a store."""

from contextlib import AbstractContextManager

from sql.engine.process_lock import held_alone
from sql.engine.store_files import StoreFiles


def following(files: StoreFiles, chain_id: int) -> AbstractContextManager[None]:
    """Keep other processes from following a chain into the store; it ends with this process.

    Raises StoreError, also when another process follows it: with that process's number.
    """
    doing = f"follows chain {chain_id} into it"
    return held_alone(files.follow_lock(chain_id), store=files.prefix, doing=doing)
