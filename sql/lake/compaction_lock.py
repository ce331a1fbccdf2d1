"""The lock of whoever moves, merges or deletes files of a lake, or needs that nobody does."""

from contextlib import AbstractContextManager

from sql.lake.find_place import LakeOwner, place_of
from sql.lake.lake_place import Turn


def without_compaction(store: LakeOwner, *, within_s: float = 0.0) -> AbstractContextManager[Turn]:
    """Keep other processes from compacting or backing up the store, until this process ends or, in
    PostgreSQL, is silent for a while.

    `within_s`: how long to wait for one that does. Raises StoreError if it still does then.
    """
    return place_of(store).compacting(within_s=within_s)
