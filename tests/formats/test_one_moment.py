"""Protects one moment behind all formats: they agree with each other while the answer is cached."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.market.token_price import TokenPrice
from api.formats.rendering import Format, render_report
from api.formats.token_snapshot import TokenSnapshot, take_snapshot
from api.serving.answers import Answers
from core.errors import InvalidAddressError, TokenRefusedError, UpstreamError
from core.report.report import EvidenceRow, Report
from tests.harness.api.sample_reports import (
    LIQUID_USD,
    MINED_AT_S,
    TOKEN,
    make_limit,
    make_pool,
    make_report,
    make_static,
)
from tests.harness.api.world import World, make_chain
from tests.harness.examples import one_in
from tests.harness.store.empty_files import new_ledger

CHAIN = make_chain(1, "ethereum")
DEADLINE_S = MINED_AT_S + 150

FORMS: dict[str, tuple[str, Format, bool]] = {
    # name -> path, format, whether with a price
    "native": (f"/token/1/{TOKEN}", "native", False),
    "compat": (f"/token/1/{TOKEN}?response_format=compat", "compat", False),
    "priced": (f"/token/1/{TOKEN}?include_token_price=true", "native", True),
    "summary": (f"/token/1/{TOKEN}/summary", "summary", False),
    "evidence": (f"/token/1/{TOKEN}/evidence", "evidence", False),
    "goplus": (f"/goplus/api/v1/token_security/1?contract_addresses={TOKEN}", "goplus", False),
}


class NewEachTime:
    """An analysis whose every report differs from the one before, in all formats."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.reports: list[Report] = []
        self.is_settled = True

    async def report(self, *_: Any, **__: Any) -> Report:
        number = len(self.reports)
        made = make_report(
            static=make_static(timebomb=True),
            clock_limits=(make_limit(DEADLINE_S),),
            pools=(make_pool(liquidity_usd=50_000.0 + number),),
            symbol=f"V{number}",
            block_number=20_000_000 + number,
            scanned_at_s=int(self._world.clock.now_s),
            is_settled=self.is_settled,
        )
        proof = EvidenceRow(key="transfer", body=f'{{"version":{number}}}')
        self.reports.append(msgspec.structs.replace(made, evidence=(proof,)))
        await asyncio.sleep(0)
        return self.reports[-1]


class Step(msgspec.Struct, frozen=True):
    """One request, some time after the one before."""

    form: str
    coding: str
    pause_s: float
    refresh: bool
    is_settled: bool
    """True if the next report of an analysis is settled."""


steps = st.builds(
    Step,
    form=st.sampled_from(list(FORMS)),
    coding=st.sampled_from(["identity", "gzip", "zstd"]),
    pause_s=st.sampled_from([0, 0, 0, 0.5, 1, 30, 119, 120]),
    refresh=st.sampled_from([False, False, False, False, True]),
    is_settled=st.sampled_from([True, True, True, False]),
)


class Model:
    """Cache as specified: one report for 120 seconds, or for one second."""

    def __init__(self, world: World, analysis: NewEachTime) -> None:
        self._world = world
        self._analysis = analysis
        self._life_s = 0.0
        self.snapshot: TokenSnapshot | None = None

    def is_alive(self) -> bool:
        """True if the last report may still be shown."""
        now_s = self._world.clock.now_s
        return self.snapshot is not None and now_s < self.snapshot.taken_at_s + self._life_s

    def renew(self) -> None:
        """Take over the report that the analysis gave now."""
        report, now_s = self._analysis.reports[-1], self._world.clock.now_s
        self.snapshot = take_snapshot(report, CHAIN, now_s=now_s, liquid_above_usd=LIQUID_USD)
        self._life_s = 120.0 if report.token.is_settled else 1.0

    def body(self, form: str) -> bytes:
        """Return the body in a format."""
        assert self.snapshot is not None
        _, shape, is_priced = FORMS[form]
        version = int(self.snapshot.report.token.symbol[1:])
        price = TokenPrice(usd=1.0 + version, source="aggregator") if is_priced else None
        return render_report(msgspec.structs.replace(self.snapshot, price=price), shape)


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[World, NewEachTime, httpx.AsyncClient]]:
    """A deployment over such an analysis, whose price is that of the report's version."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(new_ledger(Path(folder) / "ledger")) as ledger,
    ):
        world = World(ledger)
        analysis = NewEachTime(world)

        async def read_price(_: str, report: Report) -> TokenPrice:
            await asyncio.sleep(0)
            return TokenPrice(usd=1.0 + int(report.token.symbol[1:]), source="aggregator")

        yield world, analysis, world.client(analysis=analysis, read_price=read_price)
        await world.aclose()


def token_of(form: str, response: httpx.Response) -> bytes:
    """The part of the body that a report was rendered to."""
    if form != "goplus":
        return response.content
    return bytes(msgspec.json.decode(response.content, type=_GoPlus).result[TOKEN])


class _GoPlus(msgspec.Struct):
    result: dict[str, msgspec.Raw]


@settings(max_examples=one_in(1))
@given(st.lists(steps, min_size=2, max_size=12))
async def test_every_format_is_of_the_one_report_of_its_moment(made: list[Step]) -> None:
    async with opened() as (world, analysis, client):
        key, model = world.new_key(), Model(world, analysis)
        for step in made:
            world.clock.now_s += step.pause_s
            analysis.is_settled = step.is_settled
            path, scans_before = FORMS[step.form][0], len(analysis.reports)
            is_refresh = step.refresh and step.form in ("native", "compat", "priced")
            if is_refresh:
                path += ("&" if "?" in path else "?") + "refresh=true"
            is_known = model.is_alive() and not is_refresh
            response = await client.get(
                path, headers={"X-API-Key": key, "Accept-Encoding": step.coding}
            )
            assert len(analysis.reports) == scans_before + (not is_known)
            if not is_known:
                model.renew()
            assert token_of(step.form, response) == model.body(step.form)


async def test_formats_asked_for_at_once_are_of_one_report() -> None:
    async with opened() as (world, analysis, client):
        headers = {"X-API-Key": world.new_key()}
        calls = [client.get(path, headers=headers) for path, _, _ in FORMS.values()]
        responses = dict(zip(FORMS, await asyncio.gather(*calls), strict=True))
        model = Model(world, analysis)
        model.renew()
        assert len(analysis.reports) == 1
        for form, response in responses.items():
            assert token_of(form, response) == model.body(form)


async def test_an_older_analysis_that_ends_last_does_not_undo_a_refresh(world: World) -> None:
    answers: Answers = world.make_app().router.state.answers
    world.analysis.gate.clear()
    older = asyncio.create_task(answers.snapshot(chain="ethereum", address=TOKEN))
    await asyncio.wait_for(world.analysis.was_asked.wait(), 10)
    world.analysis.was_asked.clear()
    slow = world.analysis.gate
    world.analysis.gate = asyncio.Event()
    world.analysis.gate.set()
    newer = await answers.snapshot(chain="ethereum", address=TOKEN, refresh=True)
    world.analysis.outcome = make_report(symbol="OLD")
    slow.set()
    assert await older == newer
    assert await answers.snapshot(chain="ethereum", address=TOKEN) == newer


async def test_the_snapshot_is_what_the_answers_are_rendered_from(world: World) -> None:
    world.analysis.outcome = make_report(is_settled=False, scanned_at_s=MINED_AT_S - 40)
    answers: Answers = world.make_app().router.state.answers
    shown = await answers.answer(chain="ethereum", address=TOKEN, form="native")
    world.analysis.outcome = make_report(symbol="NEW")
    taken = await answers.snapshot(chain="ethereum", address=TOKEN.upper().replace("X", "x", 1))
    assert render_report(taken, "native") == shown.body
    assert (taken.is_final, taken.age_s(world.clock.now_s + 2)) == (False, 42)
    world.clock.now_s += 1
    again = await answers.snapshot(chain="ethereum", address=TOKEN)
    assert (again.is_final, again.report.token.symbol) == (True, "NEW")


@pytest.mark.parametrize(
    ("address", "outcome", "error"),
    [
        ("0x12", None, InvalidAddressError),
        (TOKEN, TokenRefusedError(code="not_a_token", reason="x"), TokenRefusedError),
        (TOKEN, UpstreamError(service="node", reason="gone"), UpstreamError),
    ],
)
async def test_who_asks_for_a_snapshot_hears_why_there_is_none(
    world: World, address: str, outcome: Exception | None, error: type[Exception]
) -> None:
    if outcome is not None:
        world.analysis.outcome = outcome
    answers: Answers = world.make_app().router.state.answers
    with pytest.raises(error):
        await answers.snapshot(chain="ethereum", address=address)
