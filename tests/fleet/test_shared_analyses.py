"""Protects callers where a token is analysed in another process than the requested one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import psycopg
import pytest

from analysis.pipeline.analyser import KnownReport
from assay.service.fleet.run_outcome import FailedElsewhereError
from core.errors import TokenRefusedError, UpstreamError
from sql.fleet.analysis_runs import TokenRun
from tests.harness.fleet.scripted_fleet import (
    CHAIN_ID,
    SETTINGS,
    SLUG,
    START_S,
    AnalysingProcess,
    Fleet,
    fleet_on,
    token,
    until_asked,
    until_begun,
)
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.tcp_proxy import proxied


@pytest.fixture
async def fleet(empty_databases: EmptyDatabases, tmp_path: Path) -> AsyncIterator[Fleet]:
    with empty_databases.lent() as url:
        async with fleet_on(url, tmp_path) as found:
            yield found


async def test_two_api_processes_that_ask_for_one_token_cost_one_analysis(fleet: Fleet) -> None:
    judges = [fleet.analyser() for _ in range(2)]
    for judge in judges:
        judge.chain.open.clear()
    asking = asyncio.gather(*(fleet.api().report(SLUG, token(1)) for _ in range(2)))
    await until_asked(fleet, 2)
    for judge in judges:
        judge.chain.open.set()
    reports = await asking
    assert [report.token.is_settled for report in reports] == [True, True]
    assert sum(len(judge.chain.begun) for judge in judges) == 1
    known = await fleet.api().recall(SLUG, token(1))
    assert known == KnownReport(report=reports[0], is_recent=True, is_running=False)


@pytest.mark.parametrize(
    "error",
    [
        TokenRefusedError(code="not_a_token", reason="no totalSupply"),
        UpstreamError(service="node", reason="cut off"),
        FailedElsewhereError("an analysis failed: ZeroDivisionError"),
    ],
    ids=["refused", "node failed", "bug"],
)
async def test_an_error_is_the_same_wherever_it_was_met(fleet: Fleet, error: Exception) -> None:
    judge = fleet.analyser()
    is_bug = isinstance(error, FailedElsewhereError)
    judge.chain.error = ZeroDivisionError("secret of a bug") if is_bug else error
    with pytest.raises(type(error)) as met:
        await fleet.api().report(SLUG, token(1))
    assert str(met.value) == str(error)
    assert getattr(met.value, "code", None) == getattr(error, "code", None)
    judge.chain.error = None
    again = await fleet.api().report(SLUG, token(1), refresh=True)
    assert again.token.is_settled


async def test_a_refusal_holds_in_every_process_for_a_while(fleet: Fleet) -> None:
    judge = fleet.analyser()
    judge.chain.error = TokenRefusedError(code="not_a_contract", reason="no code")
    for _ in range(3):
        with pytest.raises(TokenRefusedError, match="no code"):
            await fleet.api().report(SLUG, token(1))
    assert len(judge.chain.begun) == 1
    judge.chain.error = None
    with psycopg.connect(fleet.url) as connection:
        connection.execute("update analysis_run set ended_at = ended_at - interval '20 s'")
    with pytest.raises(TokenRefusedError) as met:
        await fleet.api().report(SLUG, token(1))
    assert 20 <= met.value.age_s < 30
    with psycopg.connect(fleet.url) as connection:
        connection.execute("update analysis_run set ended_at = ended_at - interval '11 s'")
    assert (await fleet.api().report(SLUG, token(1))).token.is_settled


async def test_who_is_too_early_gets_pending_and_the_next_the_answer(fleet: Fleet) -> None:
    judge = fleet.analyser()
    judge.chain.open.clear()
    hasty = fleet.api(settings=msgspec.structs.replace(SETTINGS, wait_s=1.0))
    assert not (await hasty.report(SLUG, token(1))).token.is_settled
    known = await hasty.recall(SLUG, token(1))
    assert (known.report, known.is_running) == (None, True)
    judge.chain.open.set()
    assert (await fleet.api().report(SLUG, token(1))).token.is_settled


async def test_with_no_analyser_there_is_the_stored_report_or_an_error_in_time(
    fleet: Fleet,
) -> None:
    hasty = fleet.api(settings=msgspec.structs.replace(SETTINGS, wait_s=0.3))
    with pytest.raises(UpstreamError, match=r"nothing settled in 0\.3 s"):
        await hasty.report(SLUG, token(1))
    judge = fleet.analyser()
    await fleet.api().report(SLUG, token(1))
    judge.freeze()
    assert (await hasty.report(SLUG, token(1), refresh=True)).token.scanned_at_s == START_S


async def test_what_the_background_has_begun_serves_a_request_but_not_a_recompilation(
    fleet: Fleet,
) -> None:
    judge, other = fleet.analyser(), fleet.analyser()
    judge.chain.open.clear()
    begun = asyncio.create_task(judge.shared.refresh(SLUG, token(1)))
    await until_begun(judge)
    waiting = asyncio.create_task(other.shared.refresh(SLUG, token(1)))
    plain = asyncio.create_task(fleet.api().report(SLUG, token(1)))
    anew = asyncio.create_task(fleet.api().report(SLUG, token(1), redecompile=True))
    await asyncio.sleep(0.5)
    assert (judge.chain.begun, other.chain.begun) == ([(token(1), False)], [])
    judge.chain.open.set()
    reports = await asyncio.gather(begun, waiting, plain, anew)
    assert all(report.token.is_settled for report in reports)
    assert [*judge.chain.begun, *other.chain.begun] == [(token(1), False), (token(1), True)]


async def test_a_report_begun_for_nobody_is_shown_to_who_comes_later(fleet: Fleet) -> None:
    judge = fleet.analyser()
    judge.chain.open.clear()
    begun = asyncio.create_task(judge.shared.refresh(SLUG, token(1)))
    await until_begun(judge)
    hasty = fleet.api(settings=msgspec.structs.replace(SETTINGS, wait_s=2.5))
    assert not (await hasty.report(SLUG, token(1))).token.is_settled
    judge.chain.open.set()
    await begun


async def frozen_with(judge: AnalysingProcess) -> TokenRun:
    """Return the run of a process that has stopped working."""
    await until_begun(judge)
    judge.freeze()
    leased_run = judge.leased_runs.find(CHAIN_ID, token(1))
    assert leased_run is not None
    return leased_run.run


async def test_a_paused_process_is_taken_over_and_writes_nothing_when_it_wakes(
    fleet: Fleet,
) -> None:
    paused = fleet.analyser()
    paused.chain.open.clear()
    patient = fleet.api(settings=msgspec.structs.replace(SETTINGS, wait_s=20.0))
    waiting = asyncio.create_task(patient.report(SLUG, token(1)))
    await frozen_with(paused)
    living = fleet.analyser()
    living.clock.now_s = START_S + 5
    assert (await waiting).token.scanned_at_s == START_S + 5
    paused.clock.now_s = START_S + 99
    paused.chain.open.set()
    await paused.work.run(_set())  # its analysis comes to its end
    known = await patient.recall(SLUG, token(1))
    assert known.report is not None
    assert known.report.token.scanned_at_s == START_S + 5


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


async def test_a_process_that_ends_in_order_hands_over_at_once(fleet: Fleet) -> None:
    leaving = fleet.analyser()
    leaving.chain.open.clear()
    waiting = asyncio.create_task(fleet.api().report(SLUG, token(1)))
    await until_begun(leaving)
    staying = fleet.analyser()
    await leaving.aclose()
    assert (await asyncio.wait_for(waiting, 3)).token.is_settled
    assert len(staying.chain.begun) == 1


async def test_more_tokens_than_slots_are_shared_by_the_processes(fleet: Fleet) -> None:
    judges = [fleet.analyser() for _ in range(2)]
    for judge in judges:
        judge.chain.open.clear()
    api = fleet.api()
    tasks = [asyncio.create_task(api.report(SLUG, token(number))) for number in range(1, 6)]
    for judge in judges:
        await until_begun(judge, SETTINGS.concurrency)
    assert [judge.work.busy(SLUG) for judge in judges] == [2, 2]
    for judge in judges:
        judge.chain.open.set()
    assert all(report.token.is_settled for report in await asyncio.gather(*tasks))
    assert sum(len(judge.chain.begun) for judge in judges) == 5


async def test_seconds_without_the_database_lose_no_analysis(
    postgres_server: PostgresServer, empty_databases: EmptyDatabases, tmp_path: Path
) -> None:
    with empty_databases.lent() as direct, proxied(postgres_server.port) as proxy:
        url = direct.replace(f":{postgres_server.port}/", f":{proxy.port}/")
        async with fleet_on(url, tmp_path) as fleet:
            judge = fleet.analyser()
            judge.chain.open.clear()
            patient = fleet.api(settings=msgspec.structs.replace(SETTINGS, wait_s=25.0))
            waiting = asyncio.create_task(patient.report(SLUG, token(1)))
            await until_begun(judge)
            proxy.refuse()
            proxy.cut()
            judge.chain.open.set()  # it settles while nothing can be written
            await asyncio.sleep(2.0)
            proxy.refuse(is_refusing=False)
            assert (await waiting).token.is_settled
            assert len(judge.chain.begun) == 1
