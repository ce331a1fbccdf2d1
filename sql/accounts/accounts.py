"""User accounts in the ledger: signed-in people, their browser sessions, and their API keys."""

import secrets

import msgspec

from config.plans import Plan
from sql.accounts.ledger import Ledger, NewKey, Usage, digest_of
from sql.engine.table_rows import KeyRow

MOST_LIVE_KEYS = 5
"""Live keys of one account; decisions.md, "Keys, plans, sign-in"."""

MOST_NEW_KEYS = 20
"""New keys of one account in any 24 hours: a new key comes with new quotas, revoking the old one is
free."""

LISTED_KEYS = 50

_MOST_SESSIONS = 10
_TOKEN_BYTES = 32
_SHOWN_CHARS = len("tsk_live_") + 4
_DAY_S = 86_400


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A browser session of a signed-in person."""

    account_id: int
    shown_as: str
    """Display name from the issuer: an address or a number."""


class AccountKey(KeyRow, frozen=True, kw_only=True):
    """One API key of an account."""

    prefix: str
    """The beginning of the key that may be displayed."""

    def is_live(self, now_s: float) -> bool:
        """True if neither revoked nor past its deadline."""
        return self.revoked_at_s is None and (
            self.expires_at_s is None or self.expires_at_s > int(now_s)
        )


class TooManyKeys(msgspec.Struct, frozen=True, kw_only=True):
    """Result: the account has the maximum number of live keys."""


class TooManyNewKeys(msgspec.Struct, frozen=True, kw_only=True):
    """Result: the account has created the maximum number of keys in a day."""

    retry_after_s: int


class _AccountId(msgspec.Struct, frozen=True, kw_only=True):
    account_id: int


class _KeyId(msgspec.Struct, frozen=True, kw_only=True):
    key_id: int


class _Counts(msgspec.Struct, frozen=True, kw_only=True):
    live: int
    recent: int
    oldest_recent_s: int | None


class Accounts:
    """Account operations on one open ledger. Thread-safe; raises StoreError as the ledger does."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def sign_in(
        self,
        *,
        issuer: str,
        subject: str,
        shown_as: str,
        now_s: float,
        session_s: float,
        instead_of: str | None,
    ) -> str:
        """Open a session and return its secret token; only a digest is stored.

        `instead_of` is the token of the browser's previous session, which is deleted.
        """
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        with self._ledger.database.transaction() as write:
            (account,) = write.fetch(
                "insert_account",
                _AccountId,
                issuer=issuer,
                subject=subject,
                created_at_s=int(now_s),
            )
            if instead_of is not None:
                write.execute("delete_session", digest=digest_of(instead_of))
            write.execute(
                "insert_session",
                digest=digest_of(token),
                account_id=account.account_id,
                shown_as=shown_as,
                expires_at_s=int(now_s + session_s),
            )
            write.execute(
                "delete_old_sessions",
                now_s=int(now_s),
                account_id=account.account_id,
                most=_MOST_SESSIONS,
            )
        return token

    def find_session(self, token: str, *, issuer: str, now_s: float) -> Session | None:
        """Return the live session, or None if unknown, expired, or of another issuer than the
        configured one."""
        found = self._ledger.database.fetch(
            "find_session", Session, digest=digest_of(token), issuer=issuer, now_s=int(now_s)
        )
        return found[0] if found else None

    def sign_out(self, token: str) -> None:
        """Delete the session, if there is one."""
        with self._ledger.database.transaction() as write:
            write.execute("delete_session", digest=digest_of(token))

    def create_key(
        self, account_id: int, plan: Plan, label: str, now_s: float
    ) -> NewKey | TooManyKeys | TooManyNewKeys:
        """Create a key of the account. The limits also hold for concurrent calls."""
        with self._ledger.database.transaction() as write:
            (counts,) = write.fetch(
                "count_account_keys",
                _Counts,
                account_id=account_id,
                now_s=int(now_s),
                since_s=int(now_s) - _DAY_S,
            )
            if counts.live >= MOST_LIVE_KEYS:
                return TooManyKeys()
            if counts.recent >= MOST_NEW_KEYS and counts.oldest_recent_s is not None:
                wait_s = counts.oldest_recent_s + _DAY_S - int(now_s)
                return TooManyNewKeys(retry_after_s=max(1, wait_s))
            new = self._ledger.create_within(write, plan, label, now_s)
            write.execute(
                "insert_account_key",
                key_id=new.row.key_id,
                account_id=account_id,
                prefix=new.plaintext[:_SHOWN_CHARS],
            )
            return new

    def list_keys(self, account_id: int, now_s: float) -> list[AccountKey]:
        """Return the account's keys, live ones first, each kind newest first; at most
        `LISTED_KEYS`."""
        return self._ledger.database.fetch(
            "list_account_keys",
            AccountKey,
            account_id=account_id,
            now_s=int(now_s),
            at_most=LISTED_KEYS,
        )

    def is_operator(self, account_id: int, now_s: float) -> bool:
        """True if the account has a live key that is an operator's."""
        found = self._ledger.database.fetch(
            "find_operator_key", _KeyId, account_id=account_id, now_s=int(now_s)
        )
        return bool(found)

    def usage_of(self, keys: list[AccountKey], now_s: float) -> dict[int, Usage]:
        """Return the usage recorded in the ledger, by key id; a key that was never used is
        absent."""
        return self._ledger.usages([key.key_id for key in keys], now_s)

    def revoke(self, account_id: int, key_id: int, now_s: float) -> bool:
        """Revoke one of the account's keys immediately. False: it has no such live key."""
        with self._ledger.database.transaction() as write:
            ended = write.fetch(
                "revoke_account_key",
                KeyRow,
                key_id=key_id,
                account_id=account_id,
                revoked_at_s=int(now_s),
            )
        self._ledger.read_key_revision()
        return bool(ended)
