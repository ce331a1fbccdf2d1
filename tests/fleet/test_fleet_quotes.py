"""Protects callers where a quote is simulated in another process than the requested one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing

import psycopg
import pytest

from analysis.quotes.exit_quote import ExitQuote, RequestedSize
from analysis.quotes.unsigned_trade import TradeRefusedError, UnsignedTrade
from analysis.replay.evidence_pack import EvidencePackError
from assay.service.fleet.fleet_quotes import FleetQuotes
from assay.service.fleet.inquiry_work import InquiryWork
from assay.service.fleet.row_poller import InquiryPoller
from assay.service.fleet.run_outcome import FailedElsewhereError
from core.errors import TokenRefusedError, UpstreamError
from core.evm.primitives import RawAmount
from core.report.report import Report
from sql.engine.postgres.single_statements import SingleStatements
from sql.fleet import inquiries
from sql.fleet.inquiries import Inquiries
from tests.harness.api.sample_reports import OWNER, TOKEN, make_report
from tests.harness.api.scripted_quotes import (
    ScriptedQuotes,
    make_census,
    make_check,
    make_hooks,
    make_limits,
    make_liquidity,
    make_opening,
    make_quote,
)
from tests.harness.parts.empty_databases import EmptyDatabases

CHAINS = {"ethereum": 1, "bsc": 56}
ASK = RequestedSize(usd=5.0)
TRADE = UnsignedTrade(token=TOKEN, side="sell", amount_raw=RawAmount(5), sender=OWNER, router="any")


class SlowQuotes(ScriptedQuotes):
    """Exit quotes that end when they may."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def quote_exit(self, chain: str, report: Report, ask: RequestedSize, /) -> ExitQuote:
        self.begun.set()
        await self.gate.wait()
        return await super().quote_exit(chain, report, ask)


class Analysing:
    """A process that answers inquiries about Ethereum, from its start."""

    def __init__(self, inquiries: Inquiries, *, at_once: int) -> None:
        self.quotes = SlowQuotes()
        self.work = InquiryWork(self.quotes, inquiries, chains={"ethereum": 1}, at_once=at_once)
        self.stop = asyncio.Event()
        self.running = asyncio.create_task(self.work.run(self.stop))

    async def aclose(self) -> None:
        self.stop.set()
        self.quotes.gate.set()
        await asyncio.gather(self.running, return_exceptions=True)


class Fleet:
    """Processes on one database."""

    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        self.url = url
        self._stack = stack
        self._count = 0

    def analysing(self, *, at_once: int = 2) -> Analysing:
        process = Analysing(self.inquiries(), at_once=at_once)
        self._stack.push_async_callback(process.aclose)
        return process

    def api(self, *, within_s: float = 15.0) -> FleetQuotes:
        """A process with a node of another chain."""
        inquiries = self.inquiries()
        ends = InquiryPoller(inquiries)
        self._stack.push_async_callback(ends.aclose)
        return FleetQuotes(
            ScriptedQuotes(), inquiries, ends, chains=CHAINS, own={"bsc"}, within_s=within_s
        )

    def inquiries(self) -> Inquiries:
        self._count += 1
        statements = self._stack.enter_context(closing(SingleStatements(self.url)))
        return Inquiries(statements, holder=f"process {self._count}")

    def rows(self) -> int:
        with psycopg.connect(self.url) as connection:
            row = connection.execute("select count(*) from inquiry").fetchone()
        return 0 if row is None else int(row[0])


@pytest.fixture
async def fleet(empty_databases: EmptyDatabases) -> AsyncIterator[Fleet]:
    with empty_databases.lent() as url:
        async with AsyncExitStack() as stack:
            yield Fleet(url, stack)


async def test_every_question_has_the_answer_that_it_has_in_process(fleet: Fleet) -> None:
    there = fleet.analysing().quotes
    api, report = fleet.api(), make_report()
    assert await api.quote_exit("ethereum", report, ASK) == make_quote(ASK)
    assert await api.find_liquidity("ethereum", report) == make_liquidity()
    assert await api.find_hooks("ethereum", report) == make_hooks()
    assert await api.take_census("ethereum", report) == make_census()
    assert await api.find_limits("ethereum", report) == make_limits()
    assert await api.find_opening("ethereum", report) == make_opening()
    assert await api.check_trade("ethereum", None, TRADE) == make_check(TRADE)
    assert await api.check_trade("ethereum", report, TRADE) == make_check(TRADE)
    assert (await api.record_pack("ethereum", TOKEN)).body == b"a pack"
    assert there.requests == [
        ("ethereum", TOKEN, ASK),
        ("ethereum", TOKEN, None),
        ("ethereum", TOKEN, "hooks"),
        ("ethereum", TOKEN, "census"),
        ("ethereum", TOKEN, "limits"),
        ("ethereum", TOKEN, "opening"),
        ("ethereum", None, TRADE),
        ("ethereum", TOKEN, TRADE),
        ("ethereum", TOKEN, "pack"),
    ]
    assert fleet.rows() == 0


async def test_who_has_a_node_asks_nobody(fleet: Fleet) -> None:
    api, report = fleet.api(), make_report(chain_id=56)
    assert await api.quote_exit("bsc", report, ASK) == make_quote(ASK)
    assert await api.find_liquidity("bsc", report) == make_liquidity()
    assert await api.find_hooks("bsc", report) == make_hooks()
    assert await api.take_census("bsc", report) == make_census()
    assert await api.find_limits("bsc", report) == make_limits()
    assert await api.find_opening("bsc", report) == make_opening()
    assert await api.check_trade("bsc", report, TRADE) == make_check(TRADE)
    assert (await api.record_pack("bsc", TOKEN)).body == b"a pack"


@pytest.mark.parametrize(
    "error",
    [
        TokenRefusedError(code="not_a_token", reason="no totalSupply"),
        TradeRefusedError(argument="router", reason="no pool there"),
        EvidencePackError(reason="too large"),
        UpstreamError(service="node", reason="cut off"),
        FailedElsewhereError("an inquiry failed: InquiryFailed(reason='ZeroDivisionError')"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_refusal_is_the_same_wherever_it_was_met(fleet: Fleet, error: Exception) -> None:
    is_bug = isinstance(error, FailedElsewhereError)
    fleet.analysing().quotes.failure = ZeroDivisionError("secret") if is_bug else error
    with pytest.raises(type(error)) as met:
        await fleet.api().check_trade("ethereum", None, TRADE)
    assert str(met.value) == str(error)
    assert fleet.rows() == 0


async def test_equal_questions_of_one_process_are_one(fleet: Fleet) -> None:
    process, api, report = fleet.analysing(), fleet.api(), make_report()
    process.quotes.gate.clear()
    tasks = [asyncio.create_task(api.quote_exit("ethereum", report, ASK)) for _ in range(3)]
    await process.quotes.begun.wait()
    process.quotes.gate.set()
    assert await asyncio.gather(*tasks) == [make_quote(ASK)] * 3
    assert len(process.quotes.requests) == 1


async def test_without_anybody_who_answers_there_is_an_error_in_time(fleet: Fleet) -> None:
    with pytest.raises(UpstreamError, match=r"not finished in 0\.2 s"):
        await fleet.api(within_s=0.2).find_hooks("ethereum", make_report())
    assert fleet.rows() == 0


async def test_what_takes_too_long_is_given_up_where_it_runs(fleet: Fleet) -> None:
    process = fleet.analysing()
    process.quotes.gate.clear()
    with pytest.raises(UpstreamError, match="not finished in"):
        await fleet.api(within_s=0.5).quote_exit("ethereum", make_report(), ASK)
    process.quotes.gate.set()
    assert await fleet.api().quote_exit("ethereum", make_report(), ASK) == make_quote(ASK)


async def test_too_many_are_refused_at_once(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inquiries, "MOST_INQUIRIES", 1)
    api, report = fleet.api(within_s=2.0), make_report()
    waiting = asyncio.create_task(api.find_liquidity("ethereum", report))
    async with asyncio.timeout(10):
        while fleet.rows() == 0:  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.01)
    with pytest.raises(UpstreamError, match="too many"):
        await api.find_hooks("ethereum", report)
    fleet.analysing()
    assert await waiting == make_liquidity()


async def test_a_process_that_is_killed_costs_the_lease_and_nothing_else(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inquiries, "INQUIRY_LEASE_S", 1.5)
    dying = fleet.analysing()
    dying.quotes.gate.clear()
    waiting = asyncio.create_task(fleet.api().quote_exit("ethereum", make_report(), ASK))
    await dying.quotes.begun.wait()
    monkeypatch.setattr(Inquiries, "give_back", lambda _: None)  # it is killed
    dying.running.cancel()
    living = fleet.analysing()
    assert await waiting == make_quote(ASK)
    assert (len(dying.quotes.requests), len(living.quotes.requests)) == (0, 1)


async def test_a_process_that_ends_in_order_hands_over(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.service.fleet.inquiry_work._END_WITHIN_S", 0.1)
    leaving = fleet.analysing()
    leaving.quotes.gate.clear()
    waiting = asyncio.create_task(fleet.api().quote_exit("ethereum", make_report(), ASK))
    await leaving.quotes.begun.wait()
    staying = fleet.analysing()
    leaving.stop.set()
    await asyncio.wait_for(leaving.running, 10)
    assert await asyncio.wait_for(waiting, 3) == make_quote(ASK)  # no lease is waited for
    assert len(staying.quotes.requests) == 1


async def test_one_process_works_on_no_more_than_it_may(fleet: Fleet) -> None:
    first, api = fleet.analysing(at_once=1), fleet.api()
    first.quotes.gate.clear()
    tasks = [
        asyncio.create_task(api.quote_exit("ethereum", make_report(), RequestedSize(usd=usd)))
        for usd in (5.0, 6.0)
    ]
    await first.quotes.begun.wait()
    second = fleet.analysing(at_once=1)
    await asyncio.wait(tasks, timeout=10, return_when=asyncio.FIRST_COMPLETED)
    assert (len(first.quotes.requests), len(second.quotes.requests)) == (0, 1)
    first.quotes.gate.set()
    await asyncio.gather(*tasks)
