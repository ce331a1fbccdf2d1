"""Protects jobs: the due times of a crontab, and mistakes named by file, key and job."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from config.job_check import check_job
from config.job_definition import JobDefinition, JobInvalidError, JobToken, tokens_of_rows
from config.job_schedule import schedule_of
from config.load_settings import load_settings
from core.errors import ConfigError
from core.evm.primitives import Address
from sql.jobs.configured_jobs import check_configured_jobs, job_limits
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.examples import one_in

BERLIN, NEW_YORK, KOLKATA = "Europe/Berlin", "America/New_York", "Asia/Kolkata"


def cron(expression: str, zone: str = "UTC") -> JobDefinition:
    return JobDefinition(name="job", action="refresh", cron=expression, time_zone=zone)


def due(job: JobDefinition, after: str, count: int) -> list[str]:
    """The next due times after a moment, both in UTC."""
    schedule, at_s = schedule_of(job, anchor_s=0), datetime.fromisoformat(f"{after}Z").timestamp()
    found = []
    for _ in range(count):
        at_s = schedule.next_due_s(at_s) or 0
        found.append(f"{datetime.fromtimestamp(at_s, tz=UTC):%Y-%m-%dT%H:%M}")
    return found


@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        ("0 6 * * *", "UTC", "2026-11-23T06:00", ["2026-11-24T06:00"]),
        ("0 6 * * *", "UTC", "2026-11-23T05:59", ["2026-11-23T06:00"]),
        ("0 6 * * *", BERLIN, "2026-11-23T00:00", ["2026-11-23T05:00"]),
        ("0 6 * * *", BERLIN, "2026-07-23T00:00", ["2026-07-23T04:00"]),
        ("30 9 * * *", KOLKATA, "2026-11-23T00:00", ["2026-11-23T04:00"]),
        ("*/20 8-9 * * *", "UTC", "2026-11-23T08:30", ["2026-11-23T08:40", "2026-11-23T09:00"]),
        # 2026-11-23 is a Monday; 0 and 7 are Sunday, as in a crontab
        ("0 0 * * 0", "UTC", "2026-11-23T00:00", ["2026-11-29T00:00"]),
        ("0 0 * * 7", "UTC", "2026-11-23T00:00", ["2026-11-29T00:00"]),
        ("0 0 * * 1", "UTC", "2026-11-23T00:00", ["2026-11-30T00:00"]),
        ("0 0 * * 5-7", "UTC", "2026-11-23T00:00", ["2026-11-27T00:00", "2026-11-28T00:00"]),
        ("0 0 * * mon-fri", "UTC", "2026-11-27T00:00", ["2026-11-30T00:00"]),
        ("0 0 * * */3", "UTC", "2026-11-23T00:00", ["2026-11-25T00:00", "2026-11-28T00:00"]),
        ("0 0 31 * *", "UTC", "2026-11-23T00:00", ["2026-12-31T00:00", "2027-01-31T00:00"]),
        ("0 0 29 2 *", "UTC", "2026-11-23T00:00", ["2028-02-29T00:00"]),
        # spring: 02:30 is left out on 2026-03-29 in Berlin, on 2026-03-08 in New York
        ("30 2 * * *", BERLIN, "2026-03-28T12:00", ["2026-03-29T01:30", "2026-03-30T00:30"]),
        ("30 2 * * *", NEW_YORK, "2026-03-07T12:00", ["2026-03-08T07:30", "2026-03-09T06:30"]),
        # autumn: 02:30 comes twice on 2026-10-25 in Berlin
        ("30 2 * * *", BERLIN, "2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-25T01:30"]),
        ("0 3 * * *", BERLIN, "2026-10-24T12:00", ["2026-10-25T02:00", "2026-10-26T02:00"]),
        ("*/20 2 * * *", BERLIN, "2026-10-25T00:30", ["2026-10-25T00:40", "2026-10-25T01:00"]),
        # a month that the change of clocks lies in
        ("0 0 1 * *", BERLIN, "2026-03-01T12:00", ["2026-03-31T22:00", "2026-04-30T22:00"]),
    ],
)
def test_due_times(expression: str, zone: str, after: str, expected: list[str]) -> None:
    assert due(cron(expression, zone), after, len(expected)) == expected


FIELDS = (
    st.integers(0, 59),
    st.integers(0, 23),
    st.one_of(st.just("*"), st.integers(1, 28)),
    st.one_of(st.just("*"), st.integers(1, 12)),
)


def moments_of(day: date, hour: int, minute: int, zone: ZoneInfo) -> list[datetime]:
    """The moments that a clock on the wall shows so: none, one, or two."""
    wall = datetime.combine(day, time(hour, minute))
    both = [wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    return sorted({each for each in both if each.astimezone(zone).replace(tzinfo=None) == wall})


@given(
    fields=st.tuples(*FIELDS),
    weekday=st.one_of(st.just("*"), st.integers(0, 7)),
    zone=st.sampled_from((BERLIN, NEW_YORK, KOLKATA, "UTC", "Australia/Lord_Howe")),
    after_s=st.integers(1_767_225_600, 1_798_761_600),
)
@settings(max_examples=one_in(1))
def test_a_due_time_is_the_first_that_the_fields_describe(
    fields: tuple[int, int, int | str, int | str],
    weekday: int | str,
    zone: str,
    after_s: int,
) -> None:
    """Against a walk through the days."""
    minute, hour, day, month = fields
    day = day if weekday == "*" else "*"
    begin = datetime.fromtimestamp(after_s, tz=UTC)
    here = ZoneInfo(zone)
    later = list[datetime]()
    for ahead in range(-1, 900):
        on = begin.astimezone(here).date() + timedelta(days=ahead)
        if day not in ("*", on.day) or month not in ("*", on.month):
            continue
        if weekday != "*" and on.isoweekday() % 7 != int(weekday) % 7:
            continue
        found = moments_of(on, hour, minute, here)
        assume(found)  # left out by a change of the clocks: see the table
        later = [moment for moment in found if moment > begin]
        if later:
            break
    job = cron(f"{minute} {hour} {day} {month} {weekday}", zone)
    assert schedule_of(job, anchor_s=0).next_due_s(begin.timestamp()) == later[0].timestamp()


@pytest.mark.parametrize(
    ("expression", "zone", "key", "reason"),
    [
        ("* * * *", "UTC", "cron", "five fields"),
        ("61 * * * *", "UTC", "cron", "59"),
        ("* * * * 8", "UTC", "cron", "not a day of the week"),
        ("* * * * 5-2", "UTC", "cron", "ends before it begins"),
        ("* * 1 * 1", "UTC", "cron", "not both"),
        ("* * * * ;", "UTC", "cron", "not a crontab field"),
        ("a * * * *", "UTC", "cron", ""),
        ("0 6 * * *", "Europe/Nowhere", "time_zone", "not a time zone"),
        ("0 6 * * *", "../../etc/passwd", "time_zone", "not a time zone"),
        ("0 6 * * *", "", "time_zone", "not a time zone"),
    ],
)
def test_a_mistake_names_its_key(expression: str, zone: str, key: str, reason: str) -> None:
    with pytest.raises(JobInvalidError) as raised:
        schedule_of(cron(expression, zone), anchor_s=0)
    assert raised.value.key == key
    assert reason in raised.value.reason


@given(
    every_s=st.integers(10, 10**6), anchor_s=st.integers(0, 2**31), later_s=st.integers(0, 10**7)
)
def test_intervals_are_counted_from_their_anchor(every_s: int, anchor_s: int, later_s: int) -> None:
    """However late the question: no time drifts."""
    job = JobDefinition(name="job", action="refresh", every_s=every_s)
    due_s = schedule_of(job, anchor_s=anchor_s).next_due_s(anchor_s + later_s)
    assert due_s is not None
    assert (due_s - anchor_s) % every_s == 0
    assert 0 < due_s - (anchor_s + later_s) <= every_s


def test_the_longest_pause_is_that_of_the_weekend() -> None:
    schedule = schedule_of(cron("0 6 * * 1-5"), anchor_s=0)
    assert schedule.longest_pause_s(1_795_392_000) == 3 * 86_400


# --- job files ----------------------------------------------------------------------------------

TOKEN = "0x" + "ab" * 20

GOOD = f'name = "mine"\naction = "refresh"\nevery_s = 60\ntokens = ["eth/{TOKEN}"]\n'


def load(folder: Path, text: str) -> tuple[JobDefinition, ...]:
    """The jobs of a settings.toml, checked as at the start of the service."""
    (folder / "settings.toml").write_text(text, encoding="utf-8")
    settings = load_settings({"ASSAY_CONFIG": str(folder)})
    check_configured_jobs(settings, job_limits(settings.jobs, BUILT_IN_CHAINS))
    return settings.job


def test_jobs_are_read_in_order(tmp_path: Path) -> None:
    text = f"""
port = 9000
[jobs]
export_folder = "exports"
[[job]]
{GOOD}
[[job]]
name = "nightly"
action = "export"
cron = "0 3 * * *"
time_zone = "Europe/Berlin"
folder = "night"
views = ["v_verdicts"]
"""
    first, second = load(tmp_path, text)
    assert first == JobDefinition(
        name="mine", action="refresh", every_s=60, tokens=(f"eth/{TOKEN}",)
    )
    assert (second.cron, second.time_zone, second.views) == (
        "0 3 * * *",
        "Europe/Berlin",
        ("v_verdicts",),
    )


def changed(line: str, *, without: str = "") -> str:
    kept = [one for one in GOOD.splitlines() if not without or not one.startswith(without)]
    return "\n".join(["[[job]]", *kept, line])


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        (changed("evry_s = 3"), "job[0].evry_s", "not a known key"),
        (changed("every_s = 5", without="every_s"), "job[0].every_s", ">= 10"),
        (changed('every_s = "60"', without="every_s"), "job[0].every_s", "int"),
        (changed("", without="every_s"), "job[0].every_s", "either every_s or cron"),
        (changed('cron = "* * * * *"'), "job[0].every_s", "either every_s or cron"),
        (changed('cron = "x"', without="every_s"), "job[0].cron", "five fields"),
        (changed('cron = "0 0 30,31 2 *"', without="every_s"), "job[0].cron", "matches no date"),
        (changed('time_zone = "Europe/Berlin"'), "job[0].time_zone", "cron"),
        (changed('action = "refesh"', without="action"), "job[0].action", "refesh"),
        (changed("", without="tokens"), "job[0].tokens", "either tokens or sql"),
        (changed('sql = "select 1"'), "job[0].tokens", "either tokens or sql"),
        (changed('tokens = ["eth/0x12"]', without="tokens"), "job[0].tokens", "0x12"),
        (changed(f'tokens = ["moon/{TOKEN}"]', without="tokens"), "job[0].tokens", "'moon'"),
        (
            changed(f'tokens = ["{TOKEN}"]', without="tokens"),
            "job[0].tokens",
            "not a supported chain",
        ),
        (changed('views = ["v_tokens"]'), "job[0].views", "exports only"),
        (changed('folder = "a"'), "job[0].folder", "exports only"),
        (
            changed('action = "verify"\nyounger_than_s = 9', without="action"),
            "job[0].younger_than_s",
            "refreshes only",
        ),
        (f"[[job]]\n{GOOD}[[job]]\n{GOOD}", "job[1].name", "earlier job"),
        (
            '[[job]]\nname = "mine"\naction = "export"\nevery_s = 60\nfolder = "a"',
            "job[0].action",
            "jobs.export_folder",
        ),
    ],
)
def test_a_mistake_names_file_key_and_job(tmp_path: Path, text: str, key: str, reason: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    error = raised.value
    assert (error.source, error.key) == (str(tmp_path / "settings.toml"), key)
    assert reason in error.reason
    assert "'mine'" in error.reason


@pytest.mark.parametrize("name", ["", "Upper", "with space", "-first", "a" * 65, "a/b", "ä", "a\n"])
def test_a_name_can_stand_in_an_address(tmp_path: Path, name: str) -> None:
    text = "[[job]]\n" + GOOD.replace('"mine"', repr(name).replace("'", '"'))
    with pytest.raises(ConfigError, match="name"):
        load(tmp_path, text)


@pytest.mark.parametrize("folder", ["", "..", "a/b", "/etc", ".hidden", "a..b", "a\\b", None])
def test_an_export_stays_below_its_folder(folder: str | None) -> None:
    limits = msgspec.structs.replace(LIMITS, has_exports=True)
    job = JobDefinition(name="mine", action="export", every_s=60, folder=folder)
    with pytest.raises(JobInvalidError, match="folder"):
        check_job(job, limits)


LIMITS = job_limits(load_settings({}).jobs, BUILT_IN_CHAINS)

UPPER = "0x" + "AB" * 20


def test_rows_of_a_statement_name_chains_by_id_and_by_name() -> None:
    rows = [(1, TOKEN, "more"), ("base", UPPER, None), ("ETH", UPPER, None)]
    found = tokens_of_rows(("Chain", "address", "symbol"), rows, LIMITS.chains)
    expected = [(1, TOKEN), (8453, TOKEN), (1, TOKEN)]
    assert found == [JobToken(chain_id=chain, address=Address(at)) for chain, at in expected]


@pytest.mark.parametrize(
    ("columns", "row", "reason"),
    [
        (("chain", "token"), (1, TOKEN), "'address'"),
        (("address",), (TOKEN,), "'chain'"),
        (("chain", "address", "Chain"), (1, TOKEN, 1), "'chain'"),
        (("chain", "address"), (2, TOKEN), "row 1: 2 is not a supported chain"),
        (("chain", "address"), (None, TOKEN), "row 1: None"),
        (("chain", "address"), (1, None), "row 1: 'None'"),
        (("chain", "address"), (1, "0xzz"), "row 1: '0xzz'"),
    ],
)
def test_rows_that_name_no_token_are_refused(
    columns: tuple[str, ...], row: tuple[object, ...], reason: str
) -> None:
    with pytest.raises(JobInvalidError, match="sql") as raised:
        tokens_of_rows(columns, [row], LIMITS.chains)
    assert reason in raised.value.reason
