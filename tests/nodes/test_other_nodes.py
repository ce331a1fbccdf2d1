"""Protects the service on nodes other than anvil.

Its answers equal those on anvil for the same chain, or are null as the table of
docs/operate/nodes.md states; never another answer.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from config.settings import IndexerSettings
from core.errors import TokenRefusedError, UpstreamError
from core.report.report import Report
from core.rpc.client import RpcClient
from core.rpc.headers import Header
from indexer.head.follower import Follower
from sql.engine.store import Store
from tests.harness.indexer.expected_tables import Tables, read
from tests.harness.indexer.node_tables import expect_of_node
from tests.harness.nodes.comparison import compare_reports
from tests.harness.nodes.programs import PROGRAMS
from tests.nodes.conftest import PATIENT, Judged, OtherNode, Reference, judge_all

PAGE = (Path(__file__).parents[2] / "docs" / "operate" / "nodes.md").read_text()


def programs(*, has_headers: bool) -> list[Any]:
    """Nodes that answer questions for a block, or the others, as parameters."""
    chosen = [program for program in PROGRAMS if program.has_headers is has_headers]
    return [pytest.param(program, id=program.key) for program in chosen]


async def follow_to_head(url: str, reference: Reference, path: Path) -> Tables:
    """Return the tables once the whole chain is followed. Raises UpstreamError."""
    client = await RpcClient.connect((url,), reference.chain.id, PATIENT)
    store = Store.open(path)
    try:
        follower = Follower(reference.chain, client, store, IndexerSettings(max_log_range=4))
        await follower.load()
        head: Header = await client.fetch_head_header()
        async for _ in follower.advance(head):
            pass
        return read(store)
    finally:
        store.close()
        await client.aclose()


def describe(nulls: Counter[str]) -> str:
    """Fields by how many tokens lack them."""
    ranked = sorted(nulls.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"`{name}` ({count})" for name, count in ranked) or "nothing"


def contradictions(
    known: Mapping[str, Judged], found: Mapping[str, Judged], *, is_same_chain: bool
) -> tuple[list[str], Counter[str]]:
    """Return the differences, a line each, and the nulls beyond known ones, by field."""
    wrong: list[str] = []
    nulls: Counter[str] = Counter()
    for key, other in found.items():
        one = known[key]
        if isinstance(other, UpstreamError):
            nulls["the whole report"] += isinstance(one, Report)
        elif isinstance(one, Report) and isinstance(other, Report):
            result = compare_reports(one, other, is_same_chain=is_same_chain)
            nulls += result.nulls
            wrong += [f"{key}: {line}" for line in result.different]
        elif not is_same_refusal(one, other):
            wrong.append(f"{key}: {type(one).__name__} became {other!r}")
    return wrong, nulls


def is_same_refusal(one: Judged, other: Judged) -> bool:
    if isinstance(one, TokenRefusedError) and isinstance(other, TokenRefusedError):
        return one.code == other.code
    return False


def without_hashes(tables: Tables) -> Tables:
    """Drop launch transactions' hashes, as each node's transactions are signed separately."""
    launches = [(*row[:-3], *row[-2:]) for row in tables.launches]
    return msgspec.structs.replace(tables, launches=launches)


async def follow_and_judge(
    other: OtherNode, reference: Reference, path: Path
) -> tuple[Tables, dict[str, Judged]]:
    """The tables after following to the head, and the reports on all tokens that stand there."""
    tables = await follow_to_head(other.node.url, reference, path)
    tokens = {key: one for key, one in reference.tokens.items() if other.node.has_code(one)}
    return tables, await judge_all(other.node.url, reference.chain, tokens, reference.now_s)


@pytest.mark.parametrize("other_node", programs(has_headers=True), indirect=True)
def test_the_same_answers_or_null(
    reference: Reference, other_node: OtherNode, tmp_path: Path
) -> None:
    is_same_chain = not other_node.different
    assert sum(isinstance(one, Report) for one in reference.judged.values()) > 60
    tables, judged = asyncio.run(follow_and_judge(other_node, reference, tmp_path / "store"))
    assert tables == expect_of_node(other_node.node, reference.chain)
    if is_same_chain:
        assert without_hashes(tables) == without_hashes(reference.tables)
    wrong, nulls = contradictions(reference.judged, judged, is_same_chain=is_same_chain)
    assert wrong == [], "\n".join(wrong)
    if not is_same_chain:
        pools = [
            pool for one in judged.values() if isinstance(one, Report) for pool in one.pools or ()
        ]
        assert {(pool.buy, pool.sell) for pool in pools} <= {(None, None)}
    counted = f"{len(tables.transfers)} transfers, {len(tables.pools)} pools"
    assert_has_row(f"| {other_node.program.name} | {counted} | {len(judged)} | {describe(nulls)} |")


@pytest.mark.parametrize("other_node", programs(has_headers=False), indirect=True)
def test_a_node_without_headers_is_an_error(
    reference: Reference, other_node: OtherNode, tmp_path: Path
) -> None:
    url = other_node.node.url
    with pytest.raises(UpstreamError, match="latest block"):
        asyncio.run(follow_to_head(url, reference, tmp_path / "store"))
    tokens = dict(list(reference.tokens.items())[:3])
    judged = asyncio.run(judge_all(url, reference.chain, tokens, reference.now_s))
    assert all(isinstance(one, UpstreamError) for one in judged.values())
    assert_has_row(f"| {other_node.program.name} | none: each block is `{{}}` | 0 | everything |")


def assert_has_row(row: str) -> None:
    assert row in PAGE, f"docs/operate/nodes.md lacks this row:\n{row}"
