"""Ends the process, or fills its disk, between any two statements of SQLite and DuckDB.

Open files of an ended process are closed without a commit, as the system does with a killed one,
except for its write-ahead log, which the runs with real kills cover.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from random import Random
from typing import Any, Literal
from unittest import mock

import duckdb

from sql.lake import lake_file

_FULL = "database or disk is full"
_BROKEN = "disk I/O error"
_CONNECT_DUCKDB = lake_file.connect_duckdb

FaultKind = Literal["end before", "end after", "full disk", "told failed"]
"""reported as failed: a commit that is done nevertheless."""


class ProcessEndedError(BaseException):
    """The process is no more. Nothing may catch it and go on."""


class StoreFaults:
    """Time of the next fault. Counts statements, commits among them, and events of the wire."""

    def __init__(self) -> None:
        self.is_dead = False
        self._kind: FaultKind = "end before"
        self._left: int | None = None
        self._full = 0
        self._about = ""
        self._open: list[Any] = []

    def arm(self, kind: FaultKind, statements: int, *, full_for: int = 1, about: str = "") -> None:
        """Let the fault come at the so-manieth statement from now; a disk stays full so long.

        `about`: only statements with this word count. Else those of a frequent kind would have
        most of the faults.
        """
        self._kind, self._left, self._full, self._about = kind, statements, full_for, about

    def disarm(self) -> None:
        """No fault is to come."""
        self._left, self._full = None, 0

    def tick(self) -> None:
        """Count a step outside the store, at which the process may end."""
        self._refuse_dead()
        if self._kind == "end before" and not self._about and self._is_now():
            self._end()

    def before(self, statement: str, error: Callable[[str], Exception]) -> bool:
        """Count a statement. True: the process ends after it. Raises `error` if the disk is full:
        only statements that write notice, and only they count then."""
        self._refuse_dead()
        if not self._counts(statement) or not self._is_now():
            return False
        if self._kind == "end before":
            self._end()
        if self._kind == "full disk":
            self._full -= 1
            self._left = 1 if self._full > 0 else None
            raise error(_FULL)
        return True

    def after_commit(self) -> None:
        """Count a completed commit of rows. Raises if it is to be reported as failed."""
        if self._kind == "told failed" and self._is_now():
            self._left = None
            raise _failed(_BROKEN, sqlite3.SQLITE_IOERR)

    def end_after(self) -> None:
        """The statement is done, and so is the process."""
        self._end()

    def note_open(self, connection: Any) -> None:
        """Remember a connection, to be closed when the process ends."""
        self._open.append(connection)

    def abandon(self) -> None:
        """Close the files of the ended process."""
        for connection in self._open:
            with suppress(sqlite3.Error, duckdb.Error):
                # A cursor in a traceback would keep the transaction of a closed connection open.
                connection.rollback()
            with suppress(sqlite3.Error, duckdb.Error):
                connection.close()
        self._open.clear()
        self.disarm()

    def _counts(self, statement: str) -> bool:
        if self._left is None or self._kind == "told failed" or self._about not in statement:
            return False
        return self._kind != "full disk" or _writes(statement)

    def _refuse_dead(self) -> None:
        if self.is_dead:
            raise ProcessEndedError

    def _is_now(self) -> bool:
        if self._left is None:
            return False
        self._left -= 1
        return self._left <= 0

    def _end(self) -> None:
        self.is_dead = True
        self._left = None
        raise ProcessEndedError


def _full(text: str) -> sqlite3.OperationalError:
    return _failed(text, sqlite3.SQLITE_FULL)


def _failed(text: str, code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


class _Faulty(sqlite3.Connection):
    faults: StoreFaults
    has_rows = False
    """Rows were written since a commit: those of blocks, of histories and of finalization."""

    def execute(self, sql: str, /, *parameters: Any) -> sqlite3.Cursor:
        if sql.startswith("pragma") or (sql == "rollback" and not self.faults.is_dead):
            return super().execute(sql, *parameters)
        ends = self.faults.before(sql, _full)
        found = super().execute(sql, *parameters)
        if ends:
            self.faults.end_after()
        if sql == "commit" and self.has_rows:
            self.has_rows = False
            self.faults.after_commit()
        return found

    def executemany(self, sql: str, rows: Iterable[Any], /) -> sqlite3.Cursor:
        ends = self.faults.before(sql, _full)
        self.has_rows = True
        found = super().executemany(sql, rows)
        if ends:
            self.faults.end_after()
        return found


@cache
def _writes(sql: str) -> bool:
    """True if a statement needs room on the disk."""
    first = next((line for line in sql.splitlines() if not line.startswith("--")), "")
    return not first.startswith(("select", "with", "begin", "rollback"))


class _FaultyDuck:
    """A DuckDB connection of which each statement counts."""

    def __init__(self, real: duckdb.DuckDBPyConnection, faults: StoreFaults) -> None:
        self._real = real
        self._faults = faults

    def execute(self, *args: Any) -> Any:
        return self._counted(args[0], self._real.execute, *args)

    def begin(self) -> Any:
        return self._counted("begin", self._real.begin)

    def commit(self) -> Any:
        return self._counted("commit", self._real.commit)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def _counted(self, statement: str, call: Any, *args: Any) -> Any:
        ends = self._faults.before(statement, duckdb.Error)
        found = call(*args)
        if ends:
            self._faults.end_after()
        return found


@contextmanager
def faulty_databases(faults: StoreFaults) -> Iterator[None]:
    """All connections that are opened in the block have these faults."""
    open_sqlite = sqlite3.connect

    class Connection(_Faulty):
        """Connection with these faults."""

    Connection.faults = faults

    def connect(*args: Any, **more: Any) -> sqlite3.Connection:
        if "factory" in more:
            found: sqlite3.Connection = open_sqlite(*args, **more)  # of another cause
            return found
        if faults.is_dead:
            raise ProcessEndedError
        found = open_sqlite(*args, factory=Connection, **more)
        faults.note_open(found)
        return found

    def connect_duckdb(**more: Any) -> Any:
        if faults.is_dead:
            raise ProcessEndedError
        found = _CONNECT_DUCKDB(**more)  # never one of another cause
        faults.note_open(found)
        return _FaultyDuck(found, faults)

    with (
        mock.patch.object(sqlite3, "connect", connect),
        mock.patch.object(lake_file, "connect_duckdb", connect_duckdb),
    ):
        yield


_KINDS: tuple[FaultKind, ...] = (
    *("end before", "end before", "end after", "full disk", "full disk"),
    "told failed",
)
_WORDS = (
    *("balance", "block", "checkpoint", "coverage", "final_", "filled_span", "history", "launch"),
    *("largest", "pool", "pool_side", "recent_trade", "task", "token", "trade", "transfer"),
    *("undecoded", "window_floor", "commit", "select", "delete"),
)
"""In the statements of the serving state."""


def arm_by_chance(faults: StoreFaults, dice: Random) -> str:
    """Arm a random fault at a random place. Returns both, in short."""
    kind, about = dice.choice(_KINDS), ""
    if kind == "told failed":
        statements = dice.randint(1, dice.choice((1, 2, 6)))
    elif dice.random() < 0.5:
        statements = dice.randint(1, dice.choice((1, 5, 20, 60, 150)))
    else:
        statements, about = dice.randint(1, dice.choice((1, 2, 6))), dice.choice(_WORDS)
    full_for = dice.choice((1, 1, 1, 3, 40))
    faults.arm(kind, statements, full_for=full_for, about=about)
    where = f"{kind} at {statements} {about}".rstrip()
    return where + f" for {full_for}" * (kind == "full disk")


def faults_of_compaction(dice: Random) -> StoreFaults:
    """Those that one round may meet."""
    faults = StoreFaults()
    if dice.random() < 0.6:
        kinds: tuple[FaultKind, ...] = ("end before", "end after", "full disk")
        faults.arm(dice.choice(kinds), dice.randint(1, 70))
    return faults
