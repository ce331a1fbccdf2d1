"""Behind a node with odd answers, an analysis finds what it finds without them, or less of it.

A query that the node refuses, whatever its words, costs the findings that need it and no others.
"""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from config.settings import RpcSettings
from core.report.report import Report
from core.rpc.client import RpcClient
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.examples import part_of
from tests.harness.node.odd_node import Oddity, odd_node
from tests.harness.node.oddities import FORMS, MESSAGES, REFUSALS
from tests.harness.nodes.comparison import compare_reports
from tests.harness.rpc.clients import SkippingClock

TOKENS = ("both_tax",)
NEED_LOGS = {"is_launchpad_token", "liquidity_risk"}
"""Findings that need the logs of the whole chain."""
NEED_STATES = {"hidden_creation", "unexplained_creation"}
"""Findings that need a mint event or old states, which the node of the session may lack."""
KNOWN: dict[str, list[Report]] = {}
"""Reports without an oddity, which are the same for all tests."""


@pytest.mark.parametrize(
    "oddity",
    [each for kind in (FORMS, MESSAGES, REFUSALS) for each in part_of(kind, one_in=2)],
    ids=lambda oddity: oddity.name,
)
async def test_an_analysis_ends_with_the_same_findings(
    oddity: Oddity, chain: Chain, context: ChainContext
) -> None:
    known = KNOWN.get("reports") or [
        await judge(context, chain.world.token(key).address) for key in TOKENS
    ]
    KNOWN["reports"] = known
    with odd_node(chain.node.url, oddity, head=chain.node.head_number()) as (url, _):
        client = await RpcClient.connect(
            [url], context.chain.id, RpcSettings(attempts=8), clock=SkippingClock()
        )
        behind = msgspec.structs.replace(context, node=client)
        found = [await judge(behind, chain.world.token(key).address) for key in TOKENS]
        await client.aclose()
    for one, other in zip(known, found, strict=True):
        result = compare_reports(one, other, is_same_chain=True)
        assert result.different == []
        needed = NEED_STATES | (NEED_LOGS if oddity in REFUSALS else set())
        assert set(result.nulls) <= needed
