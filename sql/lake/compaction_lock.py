"""The lock of whoever moves, merges or deletes files of a lake, or needs that nobody does."""

from contextlib import AbstractContextManager

from sql.process_lock import held_alone
from sql.store_files import StoreFiles


def without_compaction(files: StoreFiles, *, within_s: float = 0.0) -> AbstractContextManager[None]:
    """Keep other processes from compacting or backing up the store; it ends with this process.

    `within_s`: how long to wait for one that does. Raises StoreError if it still does then.
    """
    return held_alone(
        files.compaction_lock,
        store=files.prefix,
        doing="is compacting or backing it up",
        within_s=within_s,
    )
