"""The demo's chain on anvil with its reports, and the same chain on each other node."""

import asyncio
from collections.abc import Iterator

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import NoFactsIndex
from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.world import build_world
from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from config.settings import AnalysisSettings, RpcSettings
from core.errors import TokenRefusedError, UpstreamError
from core.evm.primitives import Address
from core.report.report import Report
from core.rpc.client import RpcClient
from tests.harness.chain.contexts import judge
from tests.harness.indexer.expected_tables import Tables
from tests.harness.indexer.node_tables import expect_of_node
from tests.harness.nodes.chain_copy import ChainCopy, copy_chain, send_copy
from tests.harness.nodes.programs import NodeProgram, Program

PATIENT = RpcSettings(attempts=2, timeout_s=60)
"""Patience beyond a slow machine's delays, which are no answer of the node."""

Judged = Report | TokenRefusedError | UpstreamError
"""Outcome of an analysis."""


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """Chain on anvil, and the service's answers there."""

    chain: Chain
    tokens: dict[str, Address]
    """Tokens by key: those of the zoo, the launched ones, and the chain's own coins."""
    copy: ChainCopy
    now_s: int
    judged: dict[str, Judged]
    tables: Tables


class OtherNode(msgspec.Struct, frozen=True, kw_only=True):
    """Another node with the same chain."""

    node: NodeProgram
    different: list[str]
    """Transactions that went otherwise."""

    @property
    def program(self) -> Program:
        return self.node.program


async def judge_all(
    url: str, reference: Chain, tokens: dict[str, Address], now_s: int
) -> dict[str, Judged]:
    """Analyse one token after the other."""
    client = await RpcClient.connect((url,), reference.id, PATIENT)
    context = ChainContext(
        chain=reference,
        node=client,
        index=NoFactsIndex(),
        settings=AnalysisSettings(),
        now_s=lambda: float(now_s),
    )
    judged: dict[str, Judged] = {}
    for key, token in tokens.items():
        try:
            judged[key] = await judge(context, token)
        except (TokenRefusedError, UpstreamError) as error:
            judged[key] = error
    await client.aclose()
    return judged


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reference]:
    with AnvilNode() as node:
        world = build_world(node)
        overlay = write_overlay(world, tmp_path_factory.mktemp("overlay"))
        chain = next(chain for chain in load_chains(overlay) if chain.slug == "ethereum")
        tokens = {token.key: token.address for token in world.tokens}
        tokens |= {token.key: token.address for token in world.launched}
        tokens |= {anchor.symbol: anchor.address for anchor in chain.anchors}
        keepers = {token.keeper for token in world.tokens if token.keeper is not None}
        now_s = node.head_time() + 1
        yield Reference(
            chain=chain,
            tokens=tokens,
            copy=copy_chain(node, given_to=(*world.tokens[0].holders, *sorted(keepers))),
            now_s=now_s,
            judged=asyncio.run(judge_all(node.url, chain, tokens, now_s)),
            tables=expect_of_node(node, chain),
        )


@pytest.fixture(scope="session")
def other_node(request: pytest.FixtureRequest, reference: Reference) -> Iterator[OtherNode]:
    program: Program = request.param
    genesis_s = reference.copy.genesis_s
    with NodeProgram(program, chain_id=reference.chain.id, genesis_s=genesis_s) as node:
        different = send_copy(reference.copy, node) if program.has_headers else []
        yield OtherNode(node=node, different=different)
