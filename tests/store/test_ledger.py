"""Protects the ledger: keys, counts of calls, and bounded sessions."""

import hashlib
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from config.plans import Plan, load_plans
from core.errors import StoreError
from sql.accounts.accounts import Accounts, Session
from sql.accounts.ledger import (
    LEDGER_LAYOUT,
    LEDGER_SCHEMA,
    AlreadyIssued,
    Calls,
    Ledger,
    NewKey,
    TrialEnded,
    Usage,
    digest_of,
)
from sql.engine.sqlite_file import SqliteFile
from sql.engine.statements import load_migrations
from tests.harness.store.child_functions import read_line, start
from tests.harness.store.empty_files import ledger_at

PLANS = load_plans()

DAY_S = 86_400

NOON_S = int(datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp())

IPV4, IPV6 = "192.0.2.7", "2001:db8:1:2::/64"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def issue(
    ledger: Ledger, network: str, now_s: float = NOON_S
) -> NewKey | AlreadyIssued | TrialEnded:
    return ledger.issue_trial(network, "to try it", None, PLANS["trial"], now_s)


@pytest.mark.process
def test_only_the_digest_of_a_key_is_kept(ledger_file: Ledger, path: Path) -> None:
    ledger = ledger_file
    new = ledger.create_key(PLANS["developer"], "mine", NOON_S + 0.9)
    prefix, _, secret = new.plaintext.partition("live_")
    assert prefix == "tsk_"
    assert len(secret) == 43  # 256 bits in base64
    assert new.row.digest == hashlib.sha256(new.plaintext.encode()).hexdigest()
    assert new.row.created_at_s == NOON_S
    assert ledger.find(digest_of(new.plaintext)) == new.row
    assert ledger.find(digest_of(new.plaintext + "x")) is None
    assert new.plaintext not in repr(new)
    ledger.close()
    for file in path.parent.iterdir():
        assert secret.encode() not in file.read_bytes()


@pytest.mark.process
def test_the_file_is_its_owners_alone(path: Path) -> None:
    """Made by the ledger itself: the fixture's is a copy."""
    with closing(Ledger.open(path)) as made:
        assert made.list_keys() == []
        assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}


@pytest.mark.process
def test_a_key_lives_as_long_as_its_plan_says(ledger: Ledger) -> None:
    for name, plan in PLANS.items():
        row = ledger.create_key(plan, name, NOON_S).row
        days = plan.expires_after_days
        assert row.expires_at_s == (None if days is None else NOON_S + days * DAY_S)
    assert [row.label for row in ledger.list_keys()] == list(PLANS)


@pytest.mark.process
def test_a_key_is_revoked_once(ledger: Ledger) -> None:
    key = ledger.create_key(PLANS["pro"], "", NOON_S)
    assert ledger.revoke(key.row.key_id, NOON_S + 5)
    assert not ledger.revoke(key.row.key_id, NOON_S + 9)
    assert not ledger.revoke(99, NOON_S)
    found = ledger.find(key.row.digest)
    assert found
    assert found.revoked_at_s == NOON_S + 5


def count(ledger: Ledger, key_id: int, now_s: float) -> Usage:
    """One call of a key without quotas."""
    spent = ledger.spend(key_id, PLANS["admin"], now_s)
    assert spent.is_counted
    assert spent.usage == ledger.usage(key_id, now_s)
    return spent.usage


@pytest.mark.process
def test_days_and_months_begin_at_midnight_utc(ledger: Ledger) -> None:
    key_id = ledger.create_key(PLANS["trial"], "", NOON_S).row.key_id
    midnight_s = NOON_S + DAY_S // 2  # the first of December
    assert ledger.usage(key_id, NOON_S) == Usage(lifetime=0, day=0, month=0)
    counted = [
        count(ledger, key_id, now_s)
        for now_s in (NOON_S - DAY_S, NOON_S, midnight_s - 0.5, midnight_s, midnight_s + DAY_S)
    ]
    assert [(usage.lifetime, usage.day, usage.month) for usage in counted] == [
        (1, 1, 1),
        (2, 1, 2),
        (3, 2, 3),
        (4, 1, 1),
        (5, 1, 2),
    ]
    assert ledger.usage(key_id, midnight_s + 40 * DAY_S) == Usage(lifetime=5, day=0, month=0)


@pytest.mark.process
def test_a_clock_that_goes_back_loses_no_count(ledger: Ledger) -> None:
    key_id = ledger.create_key(PLANS["pro"], "", NOON_S).row.key_id
    for now_s in (NOON_S, NOON_S + 400 * DAY_S, NOON_S, NOON_S + 400 * DAY_S):
        count(ledger, key_id, now_s)
    assert ledger.usage(key_id, NOON_S) == Usage(lifetime=4, day=2, month=2)


@pytest.mark.process
@pytest.mark.parametrize(
    ("limits", "let_through"),
    [({"lifetime": 3}, 3), ({"per_day": 2, "lifetime": 3}, 2), ({"per_month": 1}, 1), ({}, 5)],
)
def test_what_a_quota_refuses_is_not_counted(
    ledger: Ledger, limits: dict[str, int], let_through: int
) -> None:
    plan = Plan(name="small", may_refresh=False, **limits)
    key_id = ledger.create_key(plan, "", NOON_S).row.key_id
    spent = [ledger.spend(key_id, plan, NOON_S) for _ in range(5)]
    assert [answer.is_counted for answer in spent] == [at < let_through for at in range(5)]
    assert ledger.usage(key_id, NOON_S).lifetime == spent[-1].usage.lifetime == let_through


@pytest.mark.process
def test_calls_are_added_to_the_day_they_were_made_on(ledger: Ledger) -> None:
    first, second = (ledger.create_key(PLANS["pro"], "", NOON_S).row.key_id for _ in range(2))
    batch = [
        Calls(key_id=first, day="2026-11-29", calls=4),
        Calls(key_id=first, day="2026-11-30", calls=3),
        Calls(key_id=second, day="2026-11-30", calls=2),
    ]
    assert ledger.add_calls(batch, NOON_S) == {
        first: Usage(lifetime=7, day=3, month=7),
        second: Usage(lifetime=2, day=2, month=2),
    }
    with pytest.raises(StoreError, match=r"(?i)foreign key"):  # the whole batch, or nothing of it
        ledger.add_calls([*batch, Calls(key_id=9, day="2026-11-30", calls=1)], NOON_S)
    assert ledger.usage(first, NOON_S).lifetime == 7


@pytest.mark.process
def test_a_changed_key_is_noticed_by_another_process(ledger: Ledger, ledger_place: str) -> None:
    key_id = ledger.create_key(PLANS["pro"], "", NOON_S).row.key_id
    other = ledger_at(ledger_place)
    seen = ledger.key_revision
    ledger.create_key(PLANS["pro"], "", NOON_S)  # nobody can have known this one
    count(ledger, key_id, NOON_S)
    assert ledger.read_key_revision() == seen
    other.revoke(key_id, NOON_S)
    assert other.key_revision != seen  # at once for those who share the object
    assert ledger.key_revision == seen
    assert ledger.read_key_revision() == ledger.key_revision == other.key_revision
    other.close()


@pytest.mark.process
def test_counts_of_the_first_schema_are_kept(path: Path) -> None:
    old = sqlite3.connect(path)
    old.executescript(load_migrations(LEDGER_SCHEMA)[0].text)
    old.execute("pragma user_version = 1")
    old.execute("insert into api_key values (5, 'd', 'pro', '', 1, null, null)")
    old.execute("insert into usage values (5, 30, '2026-11-30', 7, '2026-11', 20)")
    old.commit()
    old.close()
    ledger = Ledger.open(path)
    assert ledger.usage(5, NOON_S) == Usage(lifetime=30, day=7, month=20)
    assert ledger.usage(5, NOON_S - DAY_S) == Usage(lifetime=30, day=0, month=20)
    ledger.close()


@pytest.mark.process
def test_a_key_that_is_not_there_is_not_counted(ledger: Ledger) -> None:
    with pytest.raises(StoreError, match=r"(?i)foreign key"):
        ledger.spend(1, PLANS["pro"], NOON_S)


@pytest.mark.process
@pytest.mark.parametrize("network", [IPV4, IPV6])
def test_a_network_has_one_trial(ledger: Ledger, network: str) -> None:
    first = issue(ledger, network)
    assert isinstance(first, NewKey)
    assert first.plaintext.startswith("tsk_trial_")
    assert first.row.label == "to try it"
    assert first.row.expires_at_s == NOON_S + 14 * DAY_S
    ledger.add_calls([Calls(key_id=first.row.key_id, day="2026-11-30", calls=120)], NOON_S)
    assert issue(ledger, network, NOON_S + 14 * DAY_S - 1) == AlreadyIssued()  # spent
    assert issue(ledger, network, NOON_S + 14 * DAY_S) == TrialEnded()
    assert isinstance(issue(ledger, network + "0"), NewKey)
    assert len(ledger.list_keys()) == 2


@pytest.mark.process
def test_two_at_once_get_one_trial(ledger: Ledger) -> None:
    given: list[object] = []
    askers = [threading.Thread(target=lambda: given.append(issue(ledger, IPV4))) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert sorted(type(answer).__name__ for answer in given) == ["AlreadyIssued"] * 7 + ["NewKey"]


@pytest.mark.process
def test_attempts_are_those_of_the_last_hour(ledger: Ledger) -> None:
    def attempt(at_s: int, network: str = IPV4) -> int:
        return ledger.note_attempt(network, NOON_S + at_s, per_hour=5)

    assert [attempt(600 * at) for at in range(5)] == [0] * 5
    assert attempt(2_430) == 1_770  # it counts too: the first two must leave the hour
    assert attempt(2_430, IPV6) == 0
    assert attempt(3_600) == 1_200
    assert attempt(9_000) == 0


@pytest.mark.process
def test_who_waits_as_told_is_let_through(ledger: Ledger) -> None:
    at_s, waits = 0, []
    for pause_s in (0, 0, 50, 7, 7, 0, 7, 80, 1):
        at_s += pause_s
        waits.append(ledger.note_attempt(IPV4, NOON_S + at_s, per_hour=5))
    assert waits[:5] == [0] * 5
    assert all(waits[5:])
    assert ledger.note_attempt(IPV4, NOON_S + at_s + waits[-1], per_hour=5) == 0


@pytest.mark.process
def test_a_flood_of_attempts_is_hardly_written(ledger_file: Ledger, path: Path) -> None:
    ledger = ledger_file

    def file_size() -> int:
        return sum(file.stat().st_size for file in path.parent.iterdir())

    for _ in range(10):
        ledger.note_attempt(IPV4, NOON_S, per_hour=5)
    before = file_size()
    for _ in range(200):
        assert ledger.note_attempt(IPV4, NOON_S, per_hour=5) == 3_600
    assert file_size() == before


@pytest.mark.process
def test_counts_of_several_processes_add_up(ledger: Ledger, ledger_place: str) -> None:
    key_id = ledger.create_key(PLANS["pro"], "", NOON_S).row.key_id
    children = [start("count_calls", ledger_place, 40) for _ in range(3)]
    for _ in range(40):
        count(ledger, key_id, NOON_S)
    for child in children:
        child.communicate()
        assert child.returncode == 0
    assert ledger.usage(key_id, NOON_S) == Usage(lifetime=160, day=160, month=160)


@pytest.mark.process
def test_processes_share_the_last_call_of_a_lifetime(ledger: Ledger, ledger_place: str) -> None:
    key_id = ledger.create_key(PLANS["trial"], "", NOON_S).row.key_id
    children = [start("spend_a_trial", ledger_place) for _ in range(3)]
    admitted = [int(child.communicate()[0]) for child in children]
    assert sum(admitted) == ledger.usage(key_id, NOON_S).lifetime == 100


@pytest.mark.process
def test_a_count_that_was_told_survives_a_kill(ledger: Ledger, ledger_place: str) -> None:
    key_id = ledger.create_key(PLANS["pro"], "", NOON_S).row.key_id
    with start("count_calls_for_ever", ledger_place) as child:
        last_count = [int(read_line(child)) for _ in range(25)][-1]
        child.kill()
    assert last_count <= ledger.usage(key_id, NOON_S).lifetime <= last_count + 1_000
    count(ledger, key_id, NOON_S)


@pytest.mark.process
def test_a_locked_ledger_is_an_error_after_a_bounded_wait(path: Path) -> None:
    file = SqliteFile(path, LEDGER_LAYOUT, wait_s=0.1)
    impatient = Ledger(file)
    key = impatient.create_key(PLANS["pro"], "", NOON_S)
    with start("hold_the_ledger", path) as child:
        assert read_line(child) == "held"
        with pytest.raises(StoreError, match="another process holds it"):
            impatient.spend(key.row.key_id, PLANS["pro"], NOON_S)
        assert impatient.find(key.row.digest) == key.row  # reads go on
        child.communicate("")
    assert count(impatient, key.row.key_id, NOON_S).lifetime == 1
    with file.transaction(), ThreadPoolExecutor(1) as other:
        attempt = other.submit(impatient.note_attempt, IPV4, NOON_S, per_hour=5)
        with pytest.raises(StoreError, match="busy"):
            attempt.result()
    impatient.close()


@pytest.mark.process
def test_a_newer_or_foreign_file_is_refused(path: Path, tmp_path: Path) -> None:
    Ledger.open(path).close()
    newer = sqlite3.connect(path)
    newer.execute("pragma user_version = 99")
    newer.close()
    with pytest.raises(StoreError, match="newer release wrote it"):
        Ledger.open(path)
    text = tmp_path / "notes.txt"
    text.write_text("not a database\n" * 100)
    with pytest.raises(StoreError, match="not a database"):
        Ledger.open(text)
    with pytest.raises(StoreError):
        Ledger.open(tmp_path)


@pytest.mark.process
def test_a_closed_ledger_says_so(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.close()
    with pytest.raises(StoreError, match="closed"):
        ledger.list_keys()


# --- accounts -----------------------------------------------------------------------------------

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
