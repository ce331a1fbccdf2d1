"""Protects the examples of the OpenAPI document from ageing: they have the form of today's reports.

`make examples` takes them from a demo.
"""

import json

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from core.report.report import Report
from docs.site.example_reports import REPORTS, SYMBOLS, encoded, shortened
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain

TAKEN = msgspec.json.decode(REPORTS.read_bytes(), type=tuple[Report, ...])

OF_INDEX = {"holder_kinds"}
"""Evidence that needs an index of transfers, which the analysis has none of here."""


def shape_of(report: Report) -> dict[str, list[str]]:
    """Keys of the evidence without the address of a pool, each with the keys of its body."""
    return {
        row.key.partition(":0x")[0]: sorted(json.loads(row.body))
        for row in shortened(report).evidence
        if row.key not in OF_INDEX
    }


def test_reports_have_the_attributes_of_today() -> None:
    assert encoded(TAKEN) == REPORTS.read_bytes()
    assert tuple(report.token.symbol for report in TAKEN) == SYMBOLS


@pytest.mark.parametrize("taken", TAKEN, ids=SYMBOLS)
async def test_evidence_has_the_keys_of_today(
    chain: Chain, context: ChainContext, taken: Report
) -> None:
    world = chain.world
    tokens = {one.symbol: one.address for one in world.tokens}
    tokens |= {one.symbol: one.address for one in world.launched}
    today = await judge(context, tokens[taken.token.symbol])
    assert shape_of(today) == shape_of(taken), "make examples"
