"""Protects metrics: their own address, and those of a fleet's analyses."""

import asyncio
from pathlib import Path

import httpx
import pytest
from prometheus_client import CollectorRegistry, Gauge

from assay.service.fleet.leased_runs import LeasedRuns
from assay.service.metrics.metrics_server import serving_metrics
from assay.service.metrics.run_metrics import RunCollector
from core.errors import ConfigError
from sql.engine.postgres.single_statements import SingleStatements
from sql.fleet.analysis_runs import AnalysisRuns
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.fleet.scripted_fleet import CHAIN_ID, SLUG, fleet_on, token, until_begun
from tests.harness.parts.empty_databases import EmptyDatabases


def make_registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    Gauge("seven", "Seven", registry=registry).set(7)
    return registry


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost"])
def test_it_answers_scrapes_until_it_ends(host: str) -> None:
    with serving_metrics(make_registry(), f"{host}:0") as port:
        url = f"http://{host}:{port}/metrics"
        assert "seven 7.0" in httpx.get(url).text
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)
    with serving_metrics(make_registry(), f"{host}:{port}"):
        assert httpx.get(url).status_code == 200


@pytest.mark.parametrize("address", ["192.0.2.1:0", "127.0.0.1:99999", "no.such.host.invalid:0"])
def test_an_address_that_is_not_ours_is_a_configuration_error(address: str) -> None:
    with (
        pytest.raises(ConfigError, match=r"metrics\.address"),
        serving_metrics(make_registry(), address),
    ):
        pass


def test_a_port_in_use_is_a_configuration_error() -> None:
    with serving_metrics(make_registry(), "127.0.0.1:0") as port:
        second = serving_metrics(make_registry(), f"127.0.0.1:{port}")
        with pytest.raises(ConfigError):
            second.__enter__()


# --- run metrics --------------------------------------------------------------------------------

OTHER = "chain_8453"

CHAINS = [chain for chain in BUILT_IN_CHAINS if chain.slug in {SLUG, OTHER}]


def seen_by(runs: AnalysisRuns, leased_runs: LeasedRuns) -> dict[tuple[str, str], float]:
    """Values by metric and chain."""
    registry = CollectorRegistry()
    registry.register(RunCollector(CHAINS, runs, leased_runs))
    return {
        (sample.name.removeprefix("assay_runs_"), sample.labels["chain"]): sample.value
        for family in registry.collect()
        for sample in family.samples
    }


async def test_what_waits_is_counted_and_so_is_what_is_begun_again(
    empty_databases: EmptyDatabases, tmp_path: Path
) -> None:
    with empty_databases.lent() as url:
        async with fleet_on(url, tmp_path) as fleet:
            lost = fleet.analyser()  # two at a time
            lost.chain.open.clear()
            api = fleet.api()
            tasks = [asyncio.create_task(api.report(SLUG, token(at))) for at in range(3)]
            await until_begun(lost, 2)
            found = await asyncio.to_thread(seen_by, lost.runs, lost.leased_runs)
            assert (found["waiting", SLUG], found["under_way", SLUG]) == (1, 2)
            assert 0 < found["longest_wait_seconds", SLUG] < 10
            assert (found["waiting", OTHER], found["longest_wait_seconds", OTHER]) == (0, 0)
            assert (found["taken_over_total", SLUG], found["lost_total", SLUG]) == (0, 0)

            lost.freeze()
            living = fleet.analyser()
            assert all(report.token.is_settled for report in await asyncio.gather(*tasks))
            found = await asyncio.to_thread(seen_by, living.runs, living.leased_runs)
            assert (found["waiting", SLUG], found["under_way", SLUG]) == (0, 0)
            assert (found["taken_over_total", SLUG], found["lost_total", SLUG]) == (2, 0)

            lost.start()  # it wakes
            async with asyncio.timeout(20):
                while lost.leased_runs.lost[CHAIN_ID] != 2:  # noqa: ASYNC110 - looked at from outside
                    await asyncio.sleep(0.05)
            away = AnalysisRuns(SingleStatements("postgresql://u:p@127.0.0.1:1/d"), holder="x")
            assert await asyncio.to_thread(seen_by, away, lost.leased_runs) == {
                ("taken_over_total", SLUG): 0,
                ("lost_total", SLUG): 2,
                ("taken_over_total", OTHER): 0,
                ("lost_total", OTHER): 0,
            }
