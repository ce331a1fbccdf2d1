"""Chain contexts of tests, and the report on one token in them: other nodes, chains, exchanges."""

from collections.abc import Sequence

import msgspec

from analysis.external.connect import ExternalServices
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.reads.indexed_facts import IndexedFacts, NoFactsIndex
from analysis.reads.node import Node
from config.facts.chain import Chain as ChainFacts
from config.facts.chain import Dex
from core.evm.primitives import Address, BlockRef
from core.report.report import Report
from core.report.rows import PoolRow
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.chain.in_memory_results import new_static_results


async def judge(context: ChainContext, token: Address) -> Report:
    """The settled report."""
    *_, report = [report async for report in scan(context, token)]
    return report


LACKING: dict[str, tuple[str, ...]] = {
    "simulate": (),
    "traces": ("eth_simulateV1",),
    "calls": ("eth_simulateV1", "debug_traceCall"),
}
"""Methods that the real node, anvil, is kept from answering, by back end."""


class Lacking:
    """A real node that does not know some methods."""

    def __init__(self, node: Node, methods: Sequence[str]) -> None:
        self._node = node
        self._methods = methods

    async def fetch_head(self) -> BlockRef:
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        known = [request for request in requests if request.method not in self._methods]
        answers = iter(await self._node.batch(known))
        return [
            RpcFault(
                code=-32601,
                message=f"the method {request.method} does not exist/is not available",
            )
            if request.method in self._methods
            else next(answers)
            for request in requests
        ]


def with_node(context: ChainContext, node: Node) -> ChainContext:
    return ChainContext(
        chain=context.chain,
        node=node,
        index=context.index,
        settings=context.settings,
        now_s=context.now_s,
        static_results=new_static_results(),
    )


def with_chain(context: ChainContext, facts: ChainFacts) -> ChainContext:
    return ChainContext(
        chain=facts,
        node=context.node,
        index=context.index,
        settings=context.settings,
        now_s=context.now_s,
        static_results=new_static_results(),
    )


class Knowing(NoFactsIndex):
    """Tables that know exactly this."""

    def __init__(self, known: IndexedFacts) -> None:
        self._known = known

    async def known(
        self, chain: ChainFacts, token: Address, quotes: Sequence[Address], pin: BlockRef | None
    ) -> IndexedFacts:
        return self._known


def with_dexes(context: ChainContext, dexes: tuple[Dex, ...]) -> ChainContext:
    """Build a new context without memory."""
    return ChainContext(
        chain=msgspec.structs.replace(context.chain, dexes=dexes),
        node=context.node,
        index=context.index,
        settings=context.settings,
        now_s=context.now_s,
        static_results=new_static_results(),
    )


class Rows(NoFactsIndex):
    """Tables that know these pools of a token and that no factory has others."""

    def __init__(self, rows: Sequence[PoolRow]) -> None:
        self._rows = tuple(rows)

    async def known(
        self, chain: ChainFacts, token: Address, quotes: Sequence[Address], pin: BlockRef | None
    ) -> IndexedFacts:
        factories = frozenset(dex.factory for dex in chain.dexes)
        return IndexedFacts(pools=self._rows, covered_factories=factories)


def context_with(
    context: ChainContext,
    *,
    rows: Sequence[PoolRow] | None = None,
    outside: ExternalServices | None = None,
    node: Node | None = None,
) -> ChainContext:
    return ChainContext(
        chain=context.chain,
        node=node or context.node,
        index=context.index if rows is None else Rows(rows),
        settings=context.settings,
        now_s=context.now_s,
        static_results=new_static_results(),
        external=outside,
    )
