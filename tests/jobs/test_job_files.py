"""Protects jobs as configuration: their settings, and mistakes named by file, key and job."""

from pathlib import Path

import msgspec
import pytest

from config.job_check import check_job
from config.job_definition import JobDefinition, JobInvalidError, JobToken, tokens_of_rows
from config.load_settings import load_settings
from core.errors import ConfigError
from core.evm.primitives import Address
from sql.jobs.configured_jobs import check_configured_jobs, job_limits
from tests.harness.built_in_chains import BUILT_IN_CHAINS

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
        (changed(f'tokens = ["{TOKEN}"]', without="tokens"), "job[0].tokens", "no supported chain"),
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
        (("chain", "address"), (2, TOKEN), "row 1: 2 is no supported chain"),
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
