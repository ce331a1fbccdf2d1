"""Protects `assay jobs`: the store has the operator's definition, and mistakes are reported."""

from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from assay import cli
from sql.engine.store import Store
from sql.jobs.job_table import find_job

TOKEN = "0x" + "ab" * 20
ADD = ("add", "mine", "--every", "60", "--token", f"eth/{TOKEN}")


def jobs(folder: Path, *arguments: str) -> Result:
    env = {"ASSAY_STORE": str(folder / "assay.duckdb"), "ASSAY_CONFIG": ""}
    return CliRunner().invoke(cli.cli, ("jobs", *arguments), env=env, catch_exceptions=False)


def test_a_job_from_its_making_to_its_end(tmp_path: Path) -> None:
    query = tmp_path / "tokens.sql"
    query.write_text("select chain, address from v_tokens", encoding="utf-8")
    assert "mine is due at 20" in jobs(tmp_path, *ADD).output
    cron = ("--cron", "0 6 * * 1", "--time-zone", "Europe/Berlin", "--sql-file", str(query))
    assert jobs(tmp_path, "add", "weekly", "--action", "verify", *cron).exit_code == 0
    listed = jobs(tmp_path, "list").output
    assert "every 60 s" in listed
    assert "0 6 * * 1" in listed
    assert jobs(tmp_path, "pause", "mine").output == "mine is paused\n"
    shown = msgspec.json.decode(jobs(tmp_path, "show", "mine").output)
    assert (shown["state"], shown["tokens"]) == ("paused", [f"eth/{TOKEN}"])
    assert jobs(tmp_path, "run", "mine").exit_code == 2
    assert "mine is due at 20" in jobs(tmp_path, "resume", "mine").output
    assert jobs(tmp_path, "run", "mine").exit_code == 0
    with closing(Store.open(tmp_path / "assay.duckdb")) as store:
        job = find_job(store, "mine")
        assert job is not None
        assert job.is_requested
    assert jobs(tmp_path, "runs", "mine").output == ""
    assert jobs(tmp_path, "remove", "mine").output == "removed mine\n"
    assert jobs(tmp_path, "show", "mine").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("add", "mine", "--every", "60"), "either tokens or sql"),
        (("add", "Mine", *ADD[2:]), "name"),
        (("add", "mine", *ADD[2:], "--cron", "* * * * *"), "either every_s or cron"),
        (("add", "mine", "--every", "60", "--token", "eth/0x1"), "0x1"),
        (("add", "mine", "--every", "60", "--action", "export", "--folder", "a"), "export_folder"),
        (("run", "nothing"), "there is no such job"),
        (("remove", "nothing"), "there is no such job"),
        (("runs", "nothing"), "there is no such job"),
    ],
)
def test_a_mistake_is_bad_usage(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    ended = jobs(tmp_path, *arguments)
    assert ended.exit_code == 2
    assert words in ended.output


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    assert jobs(tmp_path, *ADD).exit_code == 0
    ended = jobs(tmp_path, *ADD)
    assert (ended.exit_code, "one of that name" in ended.output) == (2, True)


def test_operator_keys(tmp_path: Path) -> None:
    def keys(*arguments: str) -> Result:
        env = {"ASSAY_STORE": str(tmp_path / "assay.duckdb"), "ASSAY_CONFIG": ""}
        return CliRunner().invoke(cli.cli, ("keys", *arguments), env=env)

    def flags() -> list[bool]:
        return [
            msgspec.json.decode(one)["is_operator"] for one in keys("list").output.split("\n")[:-1]
        ]

    keys("create", "--plan", "pro", "--label", "a")
    keys("create", "--plan", "pro", "--label", "b", "--operator")
    assert flags() == [False, True]
    assert keys("operator", "1").exit_code == 0
    assert keys("operator", "2", "--off").exit_code == 0
    assert flags() == [True, False]
    assert keys("operator", "3").exit_code == 2
