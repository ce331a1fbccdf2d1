"""Lock by which one process at a time runs the jobs of a store."""

from contextlib import AbstractContextManager

from sql.engine.process_lock import held_alone
from sql.engine.store_files import StoreFiles


def running_jobs(files: StoreFiles) -> AbstractContextManager[None]:
    """Keep other processes from running the jobs of a store; it ends with this process.

    Raises StoreError, also when another process runs them: with that process's number.
    """
    return held_alone(files.jobs_lock, store=files.prefix, doing="runs its jobs")
