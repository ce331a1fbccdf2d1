"""Ends the work on a store at any statement, as a crash would."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sql.engine.postgres.postgres_database import PostgresReader
from sql.engine.sqlite_file import SqliteReader, SqliteTransaction
from sql.lake.lake_file import LakeTransaction


class CrashError(BaseException):
    """The process ends here; a base exception, so that nothing handles it."""


@contextmanager
def crash_before(statement: int) -> Iterator[None]:
    """Raise CrashError instead of running that statement, counted from 0, and end the block."""
    left = [statement]
    hooked = [
        (LakeTransaction, "execute"),
        (LakeTransaction, "fetch"),
        (LakeTransaction, "insert"),
        (SqliteReader, "_run"),
        (SqliteReader, "stream"),
        (SqliteTransaction, "execute"),
        (PostgresReader, "_execute"),
        (PostgresReader, "stream"),
    ]
    kept = [(owner, name, getattr(owner, name)) for owner, name in hooked]

    def counted(original: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            if left[0] == 0:
                raise CrashError
            left[0] -= 1
            return original(*args, **kwargs)

        return run

    for owner, name, original in kept:
        setattr(owner, name, counted(original))
    try:
        yield
    except CrashError:
        pass
    finally:
        for owner, name, original in kept:
            setattr(owner, name, original)
