"""The ledger: API keys, their usage counters, and the networks that have received a trial key."""

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from config.plans import Plan
from config.store_address import FileAddress, StoreAddress
from sql.engine.database import Database, Transaction
from sql.engine.database_layout import DatabaseLayout
from sql.engine.fleet_database import connect
from sql.engine.sqlite_file import FileLayout, SqliteFile
from sql.engine.store import FileStore, Store
from sql.engine.store_files import StoreFiles
from sql.engine.store_marks import tie_files
from sql.engine.table_rows import KeyRow

_HERE = Path(__file__).parent
LEDGER_QUERIES = _HERE / "ledger.sql"
LEDGER_SCHEMA = _HERE / "schema"

LEDGER_LAYOUT = FileLayout(schema=LEDGER_SCHEMA, queries=LEDGER_QUERIES, synchronous="full")
LEDGER = DatabaseLayout(
    schema=_HERE / "postgres_schema",
    queries=LEDGER_QUERIES,
    versions="ledger_version",
    lock_table="ledger_writer",
)

_LIVE = "tsk_live_"
_TRIAL = "tsk_trial_"
_KEY_BYTES = 32
_DAY_S = 86_400
_MINUTE_S = 60
_ATTEMPT_MINUTES = 60


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key just created: the only object that holds its plaintext."""

    plaintext: str
    row: KeyRow

    def __repr__(self) -> str:
        return f"NewKey(plaintext='***', row={self.row!r})"


class AlreadyIssued(msgspec.Struct, frozen=True, kw_only=True):
    """Result: the network has a trial key that has not expired, even if its calls are used up."""


class TrialEnded(msgspec.Struct, frozen=True, kw_only=True):
    """Result: the network's trial key has expired; it gets no other."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Calls counted for one key."""

    lifetime: int
    day: int
    """Calls of the requested calendar day, UTC."""
    month: int
    """Calls of its calendar month, UTC."""


class Calls(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of one key on one day that are not written to the ledger yet."""

    key_id: int
    day: str
    """YYYY-MM-DD, UTC."""
    calls: int


class CallCount(msgspec.Struct, frozen=True, kw_only=True):
    """Result of counting one call."""

    is_counted: bool
    """False: a quota was used up, and nothing changed."""
    usage: Usage
    """Usage after the attempt."""


class _Minute(msgspec.Struct, frozen=True, kw_only=True):
    minute: int
    """Minutes since the epoch."""
    attempts: int


class _KeyUsage(msgspec.Struct, frozen=True, kw_only=True):
    key_id: int
    lifetime: int
    day: int
    month: int


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    found: str
    """JSON."""


class _Revision(msgspec.Struct, frozen=True, kw_only=True):
    revision: int


def digest_of(plaintext: str) -> str:
    """Return the SHA-256 of a key in hex, by which the ledger identifies it."""
    return hashlib.sha256(plaintext.encode()).hexdigest()


class Ledger:
    """One open ledger. Thread-safe; several processes may have it open.

    Every call raises StoreError when it cannot be read or written, or is locked by another process
    for longer than a bounded wait. Times are Unix seconds; a fraction is dropped.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._key_revision = self.read_key_revision()

    @property
    def database(self) -> Database:
        """Return the ledger's database, for its other tables."""
        return self._database

    @property
    def key_revision(self) -> int:
        """Return the last known key revision: it changes immediately on changes by this object, on
        the next read for others."""
        return self._key_revision

    def read_key_revision(self) -> int:
        """Read the key revision, to detect changes by other processes."""
        (found,) = self._database.fetch("find_key_revision", _Revision)
        self._key_revision = found.revision
        return found.revision

    @classmethod
    def open(cls, path: Path) -> "Ledger":
        """Open a file, creating it if needed, readable by its owner only."""
        return cls(SqliteFile(path, LEDGER_LAYOUT))

    @classmethod
    def of_store(cls, address: StoreAddress) -> "Ledger":
        """Open the ledger that belongs to a store: a separate file, or in the same database.

        Raises StoreError, and MissingExtraError if the driver of PostgreSQL is missing.
        """
        if isinstance(address, FileAddress):
            return cls.open(address.ledger)
        return cls(connect(address, LEDGER, is_awaited=True))

    def tie_to(self, store: Store) -> None:
        """Check that store and ledger are those of one store in files, and mark them.

        Nothing is done for a store in a database. Raises StoreError.
        """
        if isinstance(store, FileStore) and isinstance(self._database, SqliteFile):
            tie_files(
                store.file,
                self._database,
                StoreFiles(prefix=store.path),
                store_id=store.read_id(),
                has_keys=bool(self.list_keys()),
            )

    def check_present(self) -> None:
        """Check that the ledger's file is still in its place. Raises StoreError."""
        if isinstance(self._database, SqliteFile):
            self._database.check_present()

    def close(self) -> None:
        """Close the file, or the connections."""
        self._database.close()

    def create_key(
        self, plan: Plan, label: str, now_s: float, *, is_operator: bool = False
    ) -> NewKey:
        """Create a key that expires according to its plan. `is_operator`: it may manage jobs."""
        with self._database.transaction() as write:
            return _create(write, _LIVE, plan, label, int(now_s), is_operator=is_operator)

    def create_within(self, write: Transaction, plan: Plan, label: str, now_s: float) -> NewKey:
        """Create a key within a transaction."""
        return _create(write, _LIVE, plan, label, int(now_s))

    def find(self, digest: str) -> KeyRow | None:
        """Return the key with this digest, whether live, expired or revoked; None if there never
        was one."""
        found = self._database.fetch("find_key", KeyRow, digest=digest)
        return found[0] if found else None

    def list_keys(self) -> list[KeyRow]:
        """Return all keys ever created, oldest first."""
        return self._database.fetch("list_keys", KeyRow)

    def ended_of(self, key_ids: Iterable[int], now_s: float) -> set[int]:
        """Return the keys of these that are revoked, expired or unknown."""
        live = {
            key.key_id
            for key in self.list_keys()
            if key.revoked_at_s is None and (key.expires_at_s is None or key.expires_at_s > now_s)
        }
        return set(key_ids) - live

    def revoke(self, key_id: int, now_s: float) -> bool:
        """Revoke a key immediately. False: there is no such key, or it was revoked before."""
        with self._database.transaction() as write:
            ended = write.fetch("revoke_key", KeyRow, key_id=key_id, revoked_at_s=int(now_s))
        self.read_key_revision()
        return bool(ended)

    def set_operator(self, key_id: int, now_s: float, *, is_operator: bool) -> bool:
        """Make a live key an operator's, or an ordinary one. False: there is no such live key."""
        with self._database.transaction() as write:
            changed = write.fetch(
                "set_operator",
                KeyRow,
                key_id=key_id,
                now_s=int(now_s),
                is_operator=int(is_operator),
            )
        self.read_key_revision()
        return bool(changed)

    def spend(self, key_id: int, plan: Plan, now_s: float) -> CallCount:
        """Count one call if the plan's lifetime, day and month quotas allow it; on disk when this
        returns. Atomic between processes: no two callers get the same last call."""
        day = utc_day(now_s)
        with self._database.transaction() as write:
            usage = _usage(write, key_id, day)
            if plan.lifetime is not None and usage.lifetime >= plan.lifetime:
                return CallCount(is_counted=False, usage=usage)
            if plan.per_day is not None and usage.day >= plan.per_day:
                return CallCount(is_counted=False, usage=usage)
            if plan.per_month is not None and usage.month >= plan.per_month:
                return CallCount(is_counted=False, usage=usage)
            _add(write, [Calls(key_id=key_id, day=day, calls=1)])
            return CallCount(is_counted=True, usage=_usage(write, key_id, day))

    def add_calls(self, batch: Sequence[Calls], now_s: float) -> dict[int, Usage]:
        """Count all of these calls or, if it raises, none. Return the usage of their keys, by key
        id.

        Runs two statements with one row each: between rows a thread releases the interpreter, and
        under full load it does not get it back soon.
        """
        with self._database.transaction() as write:
            _add(write, batch)
            return _usages(write, {calls.key_id for calls in batch}, utc_day(now_s))

    def usage(self, key_id: int, now_s: float) -> Usage:
        """Return the usage of one key, without counting."""
        return _usage(self._database, key_id, utc_day(now_s))

    def usages(self, key_ids: Iterable[int], now_s: float) -> dict[int, Usage]:
        """Return the usage of several keys, by key id; a key without calls is absent."""
        return _usages(self._database, key_ids, utc_day(now_s))

    def issue_trial(
        self, network: str, reason: str, contact: str | None, plan: Plan, now_s: float
    ) -> NewKey | AlreadyIssued | TrialEnded:
        """Issue the one trial key of a network: an IPv4 address or an IPv6 /64, as text.

        A revoked trial counts as issued until it would have expired.
        """
        with self._database.transaction() as write:
            for key in write.fetch("find_trial_key", KeyRow, network=network):
                is_over = key.expires_at_s is not None and key.expires_at_s <= now_s
                return TrialEnded() if is_over else AlreadyIssued()
            new = _create(write, _TRIAL, plan, reason, int(now_s))
            write.execute(
                "insert_trial",
                network=network,
                key_id=new.row.key_id,
                reason=reason,
                contact=contact,
                issued_at_s=int(now_s),
            )
            return new

    def note_attempt(self, network: str, now_s: float, *, per_hour: int) -> int:
        """Count one attempt to get a trial key. Return 0 if admitted, else the seconds to wait.

        Attempts are counted per whole minute, with a cap on each count: a flood takes at most sixty
        rows, and hardly a write.
        """
        minute = int(now_s) // _MINUTE_S
        forgotten = minute - _ATTEMPT_MINUTES
        with self._database.transaction() as write:
            write.execute("delete_old_attempts", minute=forgotten)
            write.execute("note_attempt", network=network, minute=minute, enough=per_hour + 1)
            rows = write.fetch("list_attempts", _Minute, network=network, minute=forgotten)
        if sum(row.attempts for row in rows) <= per_hour:
            return 0
        left = per_hour
        for row in rows:
            left -= row.attempts
            if left <= 0:  # while this minute counts, one more attempt exceeds the limit
                return (row.minute + _ATTEMPT_MINUTES) * _MINUTE_S - int(now_s)
        raise AssertionError


def _create(
    write: Transaction,
    prefix: str,
    plan: Plan,
    label: str,
    now_s: int,
    *,
    is_operator: bool = False,
) -> NewKey:
    plaintext = prefix + secrets.token_urlsafe(_KEY_BYTES)
    days = plan.expires_after_days
    (row,) = write.fetch(
        "insert_key",
        KeyRow,
        digest=digest_of(plaintext),
        plan=plan.name,
        label=label,
        created_at_s=now_s,
        expires_at_s=None if days is None else now_s + days * _DAY_S,
        is_operator=int(is_operator),
    )
    return NewKey(plaintext=plaintext, row=row)


def utc_day(now_s: float) -> str:
    """Return the calendar day in UTC, YYYY-MM-DD."""
    return f"{datetime.fromtimestamp(now_s, tz=UTC):%Y-%m-%d}"


def _month(day: str) -> str:
    return day[: len("YYYY-MM")]


def _add(write: Transaction, batch: Iterable[Calls]) -> None:
    rows = [
        (calls.key_id, period, calls.calls)
        for calls in batch
        for period in ("all", _month(calls.day), calls.day)
    ]
    write.execute("add_calls", batch=msgspec.json.encode(rows).decode())


def _usages(source: Database | Transaction, key_ids: Iterable[int], day: str) -> dict[int, Usage]:
    """Return the usage of the keys that have any calls."""
    wanted = msgspec.json.encode(list(key_ids)).decode()
    (row,) = source.fetch("find_usage", _Found, key_ids=wanted, day=day, month=_month(day))
    return {
        found.key_id: Usage(lifetime=found.lifetime, day=found.day, month=found.month)
        for found in msgspec.json.decode(row.found, type=list[_KeyUsage])
    }


def _usage(source: Database | Transaction, key_id: int, day: str) -> Usage:
    return _usages(source, [key_id], day).get(key_id, Usage(lifetime=0, day=0, month=0))
