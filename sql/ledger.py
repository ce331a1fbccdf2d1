"""The ledger: API keys, what they have used, and which networks have had their trial."""

import hashlib
import secrets
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from config.plans import Plan
from sql.ledger_file import LedgerFile, LedgerWrite
from sql.rows import KeyRow

_LIVE = "tsk_live_"
_TRIAL = "tsk_trial_"
_KEY_BYTES = 32
_DAY_S = 86_400
_MINUTE_S = 60
_ATTEMPT_MINUTES = 60


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key that was made just now: the only time its plaintext is seen."""

    plaintext: str
    row: KeyRow

    def __repr__(self) -> str:
        return f"NewKey(plaintext='***', row={self.row!r})"


class AlreadyIssued(msgspec.Struct, frozen=True, kw_only=True):
    """The network has a trial key that has not expired, spent or not."""


class TrialEnded(msgspec.Struct, frozen=True, kw_only=True):
    """The network's trial key has expired; it gets no other."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Calls counted for one key."""

    lifetime: int
    day: int
    """Of the calendar day asked about, UTC."""
    month: int
    """Of its calendar month, UTC."""


class _Attempts(msgspec.Struct, frozen=True, kw_only=True):
    attempts: int


def digest_of(plaintext: str) -> str:
    """SHA-256 of a key, hex: what the ledger knows it by."""
    return hashlib.sha256(plaintext.encode()).hexdigest()


class Ledger:
    """One open ledger. Thread-safe; several processes may have the same file open.

    Every call raises StoreError when the file cannot be read or written, after a bounded wait
    when somebody else holds it. Times are Unix seconds; a fraction is dropped.
    """

    def __init__(self, file: LedgerFile) -> None:
        self._file = file

    @classmethod
    def open(cls, path: Path) -> "Ledger":
        """Open the file, or make it, readable by its owner alone."""
        return cls(LedgerFile(path))

    def close(self) -> None:
        """Give the file up."""
        self._file.close()

    def create_key(self, plan: Plan, label: str, now_s: float) -> NewKey:
        """A new key; it expires when its plan says so."""
        with self._file.transaction() as write:
            return _create(write, _LIVE, plan, label, int(now_s))

    def find(self, digest: str) -> KeyRow | None:
        """The key with this digest, be it live, expired or revoked. None: there never was one."""
        found = self._file.fetch("find_key", KeyRow, digest=digest)
        return found[0] if found else None

    def list_keys(self) -> list[KeyRow]:
        """Every key there ever was, oldest first."""
        return self._file.fetch("list_keys", KeyRow)

    def revoke(self, key_id: int, now_s: float) -> bool:
        """End a key at once. False: there is no such key, or it was revoked before."""
        with self._file.transaction() as write:
            return bool(write.fetch("revoke_key", KeyRow, key_id=key_id, revoked_at_s=int(now_s)))

    def count_call(self, key_id: int, now_s: float) -> Usage:
        """Count one call; on the disk when this returns. The counts include it."""
        with self._file.transaction() as write:
            (usage,) = write.fetch("count_call", Usage, key_id=key_id, **_calendar(now_s))
        return usage

    def usage(self, key_id: int, now_s: float) -> Usage:
        """The counts as they are, without counting."""
        found = self._file.fetch("find_usage", Usage, key_id=key_id, **_calendar(now_s))
        return found[0] if found else Usage(lifetime=0, day=0, month=0)

    def issue_trial(
        self, network: str, reason: str, contact: str | None, plan: Plan, now_s: float
    ) -> NewKey | AlreadyIssued | TrialEnded:
        """The one trial key of a network: an IPv4 address or an IPv6 /64, as text.

        A revoked trial counts as issued until it would have expired.
        """
        with self._file.transaction() as write:
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

    def note_attempt(self, network: str, now_s: float) -> int:
        """Count one attempt to get a trial key; attempts of the last hour, this one included.

        The hour is counted in whole minutes, so that a flood takes no more than sixty rows.
        """
        minute = int(now_s) // _MINUTE_S
        with self._file.transaction() as write:
            write.execute("delete_old_attempts", minute=minute - _ATTEMPT_MINUTES)
            write.execute("note_attempt", network=network, minute=minute)
            (found,) = write.fetch(
                "count_attempts", _Attempts, network=network, minute=minute - _ATTEMPT_MINUTES
            )
        return found.attempts


def _create(write: LedgerWrite, prefix: str, plan: Plan, label: str, now_s: int) -> NewKey:
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
    )
    return NewKey(plaintext=plaintext, row=row)


def _calendar(now_s: float) -> dict[str, object]:
    now = datetime.fromtimestamp(now_s, tz=UTC)
    return {"day": f"{now:%Y-%m-%d}", "month": f"{now:%Y-%m}"}
