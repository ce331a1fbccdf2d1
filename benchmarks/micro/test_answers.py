"""Cost of an answer that is not cached: rendering of a report with pools, and compression."""

from typing import get_args

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from api.formats.rendering import Format, render_report
from api.formats.token_snapshot import take_snapshot
from api.serving.packing import Coding, compress, pack
from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from core.report.report import Report
from tests.harness.api.sample_reports import (
    DEAD,
    LIQUID_USD,
    MINED_AT_S,
    make_holder,
    make_pool,
    make_report,
)

POOLS = 11
"""With them a native answer has about 6 KB."""


@pytest.fixture(scope="module")
def chain() -> Chain:
    return next(chain for chain in load_chains(None) if chain.id == 1)


@pytest.fixture(scope="module")
def report() -> Report:
    return make_report(
        pools=tuple(make_pool(ordinal=at) for at in range(POOLS)),
        holders=tuple(make_holder(DEAD, 10**21, at=at) for at in range(10)),
    )


def body_of(report: Report, chain: Chain, form: Format) -> bytes:
    """A body, ten seconds after the report's block."""
    snapshot = take_snapshot(report, chain, now_s=MINED_AT_S + 10, liquid_above_usd=LIQUID_USD)
    return render_report(snapshot, form)


@pytest.mark.parametrize("form", get_args(Format))
def test_render(benchmark: BenchmarkFixture, report: Report, chain: Chain, form: Format) -> None:
    assert benchmark(body_of, report, chain, form)


def test_pack(benchmark: BenchmarkFixture, report: Report, chain: Chain) -> None:
    assert benchmark(pack, 200, body_of(report, chain, "native")).tag


@pytest.mark.parametrize("coding", get_args(Coding))
def test_compress(
    benchmark: BenchmarkFixture, report: Report, chain: Chain, coding: Coding
) -> None:
    answer = pack(200, body_of(report, chain, "native"))
    assert len(benchmark(compress, answer, coding).body) < len(answer.body)
