"""Protects sessions in the ledger: known by their digest, bounded in time and in number."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sql.accounts.accounts import Accounts, Session
from sql.accounts.ledger import LEDGER_SCHEMA, Ledger
from sql.engine.statements import load_migrations

NOW_S = 1_790_000_000.5


@pytest.fixture
def accounts(ledger: Ledger) -> Accounts:
    return Accounts(ledger)


def sign_in(accounts: Accounts, subject: str = "alice", **changes: object) -> str:
    plain = {"issuer": "i", "shown_as": subject, "now_s": NOW_S, "session_s": 60.0}
    return accounts.sign_in(subject=subject, **{"instead_of": None, **plain, **changes})  # type: ignore[arg-type]  # named above


def find(accounts: Accounts, token: str, *, now_s: float = NOW_S) -> Session | None:
    return accounts.find_session(token, issuer="i", now_s=now_s)


def test_a_session_ends_with_its_time(accounts: Accounts) -> None:
    token = sign_in(accounts)
    assert find(accounts, token, now_s=NOW_S + 59) == Session(account_id=1, shown_as="alice")
    assert find(accounts, token, now_s=NOW_S + 60) is None


def test_the_file_does_not_hold_the_token(ledger_file: Ledger, tmp_path: Path) -> None:
    token = sign_in(Accounts(ledger_file))
    file_bytes = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"alice" in file_bytes
    assert token.encode() not in file_bytes


def test_a_subject_is_somebody_of_one_issuer(accounts: Accounts) -> None:
    ours = find(accounts, sign_in(accounts))
    again = find(accounts, sign_in(accounts))
    token = sign_in(accounts, issuer="other")
    theirs = accounts.find_session(token, issuer="other", now_s=NOW_S)
    assert ours is not None
    assert ours == again
    assert theirs is not None
    assert theirs.account_id != ours.account_id
    assert find(accounts, token) is None


def test_an_account_has_only_so_many_sessions_and_leaves_those_of_others(
    accounts: Accounts,
) -> None:
    bobs = sign_in(accounts, "bob")
    tokens = [sign_in(accounts, now_s=NOW_S + at) for at in range(13)]
    live = [find(accounts, token, now_s=NOW_S + 13) is not None for token in tokens]
    assert live == [*[False] * 3, *[True] * 10]
    assert find(accounts, bobs) is not None


def test_one_session_is_exchanged_for_another(accounts: Accounts) -> None:
    before = sign_in(accounts)
    kept = sign_in(accounts)
    after = sign_in(accounts, instead_of=before)
    assert find(accounts, before) is None
    assert find(accounts, kept) is not None
    accounts.sign_out(after)
    accounts.sign_out("never was one")
    assert find(accounts, after) is None
    assert find(accounts, kept) is not None


def test_a_ledger_of_the_release_before_keeps_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as old:
        for migration in load_migrations(LEDGER_SCHEMA)[:2]:
            old.executescript(migration.text)
        old.execute("pragma user_version = 2")
        old.execute("insert into api_key values (7, 'd', 'pro', 'bot', 1, null, null)")
        old.commit()
    with closing(Ledger.open(path)) as opened:
        assert [key.key_id for key in opened.list_keys()] == [7]
        assert find(Accounts(opened), sign_in(Accounts(opened))) is not None
        assert not Accounts(opened).revoke(1, 7, NOW_S)
