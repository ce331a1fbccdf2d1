"""Protects /jobs: operators' keys only, and every change is reported as it is."""

import msgspec
import pytest

from config.job_definition import JobDefinition
from config.settings import JobSettings
from sql.engine.store import Store
from sql.jobs.configured_jobs import job_limits
from sql.jobs.job_runs import begin_run, finish_run
from sql.jobs.job_table import find_job, write_configured_jobs
from tests.harness.api.sign_in import PUBLIC, Browser, Street
from tests.harness.api.world import PLANS, World
from tests.harness.built_in_chains import BUILT_IN_CHAINS

LIMITS = job_limits(JobSettings(export_folder="exports"), BUILT_IN_CHAINS)
TOKEN = "0x" + "ab" * 20
GOOD = {"name": "mine", "action": "refresh", "every_s": 60, "tokens": [f"eth/{TOKEN}"]}


class Operator:
    """Calls with an operator's key."""

    def __init__(self, world: World, store: Store) -> None:
        self.client = world.client(store=store, jobs=LIMITS)
        new = world.ledger.create_key(PLANS["pro"], "test", world.clock.now_s, is_operator=True)
        self.headers = {"X-API-Key": new.plaintext}

    async def call(
        self, method: str, path: str, body: object = None
    ) -> tuple[int, dict[str, object]]:
        sent = await self.client.request(method, path, json=body, headers=self.headers)
        return sent.status_code, sent.json() if sent.content else {}


@pytest.fixture
def operator(world: World, world_store: Store) -> Operator:
    return Operator(world, world_store)


async def test_a_job_from_its_making_to_its_end(
    world: World, world_store: Store, operator: Operator
) -> None:
    status, made = await operator.call("POST", "/jobs", GOOD)
    assert (status, made["state"], made["origin"]) == (201, "waiting", "operator")
    assert await operator.call("GET", "/jobs") == (200, {"jobs": [made]})
    assert (await operator.call("POST", "/jobs", GOOD))[0] == 409
    assert (await operator.call("POST", "/jobs/mine/run"))[0] == 202
    job = find_job(world_store, "mine")
    assert job is not None
    run = begin_run(world_store, job, now_s=world.clock.now_s)
    assert run is not None
    status, shown = await operator.call("GET", "/jobs/mine")
    assert shown["job"]["state"] == "running"  # type: ignore[index]
    status, body = await operator.call("POST", "/jobs/mine/run")
    assert (status, body) == (409, {"detail": "Job 'mine': is running already."})
    finish_run(world_store, run.run_id, now_s=world.clock.now_s + 5, error="took longer than 1 s")
    status, shown = await operator.call("GET", "/jobs/mine")
    (ended,) = msgspec.convert(shown["runs"], list[dict[str, object]])
    assert (ended["cause"], ended["outcome"], ended["error"]) == (
        "request",
        "failed",
        "took longer than 1 s",
    )
    status, paused = await operator.call("POST", "/jobs/mine/pause")
    assert (status, paused["state"], paused["due_at"]) == (200, "paused", None)
    assert (await operator.call("POST", "/jobs/mine/run"))[0] == 409
    status, resumed = await operator.call("POST", "/jobs/mine/resume")
    assert (status, resumed["state"]) == (200, "waiting")
    assert (await operator.call("DELETE", "/jobs/mine"))[0] == 204
    assert await operator.call("GET", "/jobs") == (200, {"jobs": []})


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/jobs/none"),
        ("POST", "/jobs/none/run"),
        ("POST", "/jobs/none/pause"),
        ("POST", "/jobs/none/resume"),
        ("DELETE", "/jobs/none"),
        ("DELETE", "/jobs/%22%3Cb%3E"),
    ],
)
async def test_a_job_that_there_is_not(operator: Operator, method: str, path: str) -> None:
    status, body = await operator.call(method, path)
    assert status == 404
    assert str(body["detail"]).startswith("There is no job ")


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"every_s": 5}, "every_s"),
        ({"every_s": None}, "every_s"),
        ({"every_s": None, "cron": "x"}, "cron"),
        ({"every_s": None, "cron": "* * * * *", "time_zone": "Mars"}, "time_zone"),
        ({"action": "drop"}, "action"),
        ({"name": "a b"}, "name"),
        ({"tokens": ["eth/0x1"]}, "tokens"),
        ({"tokens": []}, "tokens"),
        ({"tokens": [], "sql": ""}, "sql"),
        ({"sql": "select 1"}, "tokens"),
        ({"folder": "../etc"}, "folder"),
        ({"action": "export", "tokens": [], "folder": "../etc"}, "folder"),
        ({"action": "export", "tokens": [], "folder": "a", "views": ["api_key"]}, "views"),
        ({"more": 1}, "more"),
    ],
)
async def test_a_wrong_definition_names_its_key(
    operator: Operator, change: dict[str, object], key: str
) -> None:
    status, body = await operator.call("POST", "/jobs", {**GOOD, **change})
    assert status == 422
    assert key in msgspec.json.encode(body["detail"]).decode()
    assert await operator.call("GET", "/jobs") == (200, {"jobs": []})


async def test_only_operators_may(world: World, world_store: Store) -> None:
    client = world.client(store=world_store, jobs=LIMITS)
    calls = [
        ("GET", "/jobs"),
        ("POST", "/jobs"),
        ("GET", "/jobs/mine"),
        ("POST", "/jobs/mine/pause"),
        ("POST", "/jobs/mine/resume"),
        ("POST", "/jobs/mine/run"),
        ("DELETE", "/jobs/mine"),
    ]
    new = world.ledger.create_key(PLANS["admin"], "test", world.clock.now_s)
    key = {"X-API-Key": new.plaintext}
    for method, path in calls:
        assert (await client.request(method, path, json=GOOD)).status_code == 401, path
        assert (await client.request(method, path, json=GOOD, headers=key)).status_code == 403, path
    assert world.ledger.set_operator(new.row.key_id, world.clock.now_s, is_operator=True)
    assert (await client.get("/jobs", headers=key)).status_code == 200
    assert world.ledger.set_operator(new.row.key_id, world.clock.now_s, is_operator=False)
    assert (await client.get("/jobs", headers=key)).status_code == 403
    world.ledger.revoke(new.row.key_id, world.clock.now_s)
    assert not world.ledger.set_operator(new.row.key_id, world.clock.now_s, is_operator=True)


async def test_a_job_of_the_configuration_is_paused_but_not_removed(
    world: World, world_store: Store, operator: Operator
) -> None:
    definition = JobDefinition(name="mine", action="refresh", every_s=60, sql="select 1")
    write_configured_jobs(world_store, [definition], now_s=world.clock.now_s)
    assert (await operator.call("DELETE", "/jobs/mine"))[0] == 409
    assert (await operator.call("POST", "/jobs/mine/pause"))[1]["state"] == "paused"
    write_configured_jobs(world_store, [definition], now_s=world.clock.now_s)
    _, shown = await operator.call("GET", "/jobs/mine")
    assert shown["job"]["state"] == "paused"  # type: ignore[index]


async def test_without_a_store_there_are_no_jobs(world: World) -> None:
    client = world.client()
    new = world.ledger.create_key(PLANS["pro"], "test", world.clock.now_s, is_operator=True)
    answer = await client.get("/jobs", headers={"X-API-Key": new.plaintext})
    assert answer.status_code == 503


@pytest.mark.process
async def test_people_with_an_operators_key_see_and_change_jobs(
    world: World, world_store: Store, street: Street
) -> None:
    definition = JobDefinition(name="mine", action="refresh", every_s=60, sql="select 1")
    write_configured_jobs(world_store, [definition], now_s=world.clock.now_s)
    browser: Browser = street.browser_of(store=world_store, jobs=LIMITS)
    await browser.sign_in("ada")
    assert (await browser.open(f"{PUBLIC}/dashboard/jobs")).status_code == 403
    assert "/dashboard/jobs" not in (await browser.open(f"{PUBLIC}/dashboard")).text
    await browser.send("/dashboard/keys", label="bot")
    (key,) = world.ledger.list_keys()
    assert world.ledger.set_operator(key.key_id, world.clock.now_s, is_operator=True)
    assert "/dashboard/jobs" in (await browser.open(f"{PUBLIC}/dashboard")).text
    assert "every 60 s" in (await browser.open(f"{PUBLIC}/dashboard/jobs")).text
    assert (await browser.send("/dashboard/jobs/mine/pause")).status_code == 303
    job = find_job(world_store, "mine")
    assert job is not None
    assert job.is_paused
    assert "paused" in (await browser.open(f"{PUBLIC}/dashboard/jobs")).text
    assert (await browser.send("/dashboard/jobs/mine/run")).status_code == 409
    assert (await browser.send("/dashboard/jobs/mine/drop")).status_code == 404
    assert (await browser.client.post(f"{PUBLIC}/dashboard/jobs/mine/resume")).status_code == 403
