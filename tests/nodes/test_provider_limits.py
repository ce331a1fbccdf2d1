"""Protects following and analysing through the limits of providers.

The same tables and reports as without, or null as docs/operate/nodes.md states, and no more calls
than stated.
"""

import re
from collections import Counter
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.service.store_adapter import ReportStore
from config.facts.chain import Chain as ChainFacts
from config.settings import IndexerSettings, RpcSettings
from core.errors import UpstreamError
from core.evm.primitives import BlockRef
from core.report.report import Report
from core.rpc.client import RpcClient
from indexer.head.follower import Follower
from sql.engine.store import Store
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.indexer.expected_tables import Tables, read
from tests.harness.indexer.node_tables import expect_of_node
from tests.harness.nodes.comparison import compare_reports
from tests.harness.provider_limits.profiles import Profile, limited, load_profiles
from tests.harness.rpc.clients import SkippingClock
from tests.harness.store.empty_files import new_store

PAGE = (Path(__file__).parents[2] / "docs" / "operate" / "nodes.md").read_text()
TOKENS = ("both_tax", "v3_honest")
BLOCKS = 120
STEPS = 10
MORE_CALLS = 1.25
"""Ratio to the page's number of calls that is too high."""
MORE_CALLS_AT_A_RATE = 2.0
"""Same for a rate limit, whose refusals and retries depend on the machine's pace."""


def row_of(name: str) -> tuple[str, str, int]:
    """Return the page's followed range, nulls and number of calls."""
    found = re.search(
        rf"^\| {re.escape(name)} \|[^|]*\| ([^|]*) \| ([^|]*) \| (\d+) \|$", PAGE, re.M
    )
    assert found is not None, f"docs/operate/nodes.md has no row for {name}"
    return found[1], found[2], int(found[3])


async def follow(
    client: RpcClient, facts: ChainFacts, store: Store, clock: SkippingClock
) -> Tables | None:
    """The tables at the head. None: it was not reached. A failed step is tried again after a
    pause, as the service does."""
    follower = Follower(facts, client, store, IndexerSettings())
    for _ in range(STEPS):
        try:
            await follower.load()
            async for _ in follower.advance(await client.fetch_head_header()):
                pass
        except UpstreamError:
            follower.forget()
            await clock.sleep(1.0)
        else:
            return read(store)
    return None


def with_index(context: ChainContext, store: Store, head: BlockRef) -> ChainContext:
    """Build a context as in the service: followed blocks are not requested again."""
    index = ReportStore(store, context.settings)
    return msgspec.structs.replace(context, index=index, newest=lambda: head)


async def judge_all(chain: Chain, context: ChainContext) -> list[Report]:
    return [await judge(context, chain.world.token(key).address) for key in TOKENS]


@pytest.mark.parametrize("profile", load_profiles(), ids=lambda profile: profile.name)
async def test_limits_change_no_answer(
    chain: Chain,
    facts: ChainFacts,
    context: ChainContext,
    node_client: RpcClient,
    profile: Profile,
    tmp_path: Path,
) -> None:
    chain.mine(BLOCKS)
    clock = SkippingClock()
    with (
        closing(new_store(tmp_path / "known")) as known_store,
        closing(new_store(tmp_path / "store")) as store,
        limited(chain.node.url, profile, now_s=clock.now_s) as state,
    ):
        await follow(node_client, facts, known_store, clock)
        head = await node_client.fetch_head()
        known = await judge_all(chain, with_index(context, known_store, head))
        behind = await RpcClient.connect(
            [state()[0]], facts.id, RpcSettings(attempts=8), clock=clock
        )
        tables = await follow(behind, facts, store, clock)
        at = with_index(msgspec.structs.replace(context, node=behind), store, head)
        found = await judge_all(chain, at)
        await behind.aclose()
        calls = state()[1]
    nulls: Counter[str] = Counter()
    for one, other in zip(known, found, strict=True):
        result = compare_reports(one, other, is_same_chain=True)
        assert result.different == []
        nulls += result.nulls
    if tables is not None:
        assert tables == expect_of_node(chain.node, facts)
    seen = (
        ("no" if tables is None else "yes"),
        ", ".join(f"`{name}`" for name in sorted(nulls)) or "-",
    )
    followed, null, most = row_of(profile.name)
    assert seen == (followed, null), f"and {calls} calls"
    more = MORE_CALLS if profile.rate is None else MORE_CALLS_AT_A_RATE
    assert most / more <= calls <= most * more, f"{calls} calls"
