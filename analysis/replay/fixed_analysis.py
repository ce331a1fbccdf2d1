"""Analysis with fixed inputs, made by `record_pack` and repeated by `replay_pack`.

It uses no memory of other analyses and no external services, and sends reads unpacked, so that each
read is one request that any node answers. Requests that a pack must not contain are answered as if
the node lacked the method.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.chain_memory import ChainMemory
from analysis.pipeline.scan import scan
from analysis.reads.indexed_facts import IndexedFacts, NoFactsIndex
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.replay.allowed_requests import reason_against
from analysis.replay.evidence_pack import EvidencePackError, Given
from config.facts.chain import Chain
from core.evm.keccak import keccak
from core.evm.primitives import Address, BlockRef, Hash32
from core.report.report import Report
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

NO_SUCH_METHOD = RpcFault(code=-32601, message="the method is not available")


class Answering(Protocol):
    """Source of answers to the requests of a pack."""

    async def answer(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        """Return the answers in order. Raises UpstreamError."""
        ...


class _FixedNode:
    """A node at one block that forwards only requests which a pack may contain."""

    def __init__(self, source: Answering, block: BlockRef) -> None:
        self._source = source
        self._block = block

    async def fetch_head(self) -> BlockRef:
        """Return the block of the analysis."""
        return self._block

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        """Return the answers in order. Raises UpstreamError."""
        allowed = [reason_against(each, self._block) is None for each in requests]
        forwarded = [each for each, is_allowed in zip(requests, allowed, strict=True) if is_allowed]
        answers = iter(await self._source.answer(forwarded) if forwarded else [])
        return [next(answers) if is_allowed else NO_SUCH_METHOD for is_allowed in allowed]


class _FixedIndex(NoFactsIndex):
    """An index with these facts."""

    def __init__(self, facts: IndexedFacts) -> None:
        self._facts = facts

    async def known(
        self, _chain: Chain, _token: Address, _quotes: Sequence[Address], _pin: BlockRef | None
    ) -> IndexedFacts:
        """Return the facts."""
        return self._facts


def chain_facts(chain: Chain) -> Hash32:
    """Return the digest of the configured facts of a chain."""
    return Hash32("0x" + keccak(msgspec.json.encode(chain, order="sorted")).hex())


def request_key(request: RpcRequest) -> bytes:
    """Return a key that equal requests share."""
    return msgspec.json.encode((request.method, request.params), order="sorted")


async def analyse_fixed(
    context: ChainContext, source: Answering, token: Address, *, block: BlockRef, given: Given
) -> Report:
    """Return the settled report, without evidence, that follows from the answers.

    `context`: for the chain's configuration only. Raises TokenRefusedError, UpstreamError,
    EvidencePackError for invalid facts of an index.
    """
    try:
        facts = msgspec.json.decode(given.index, type=IndexedFacts)
    except (msgspec.DecodeError, RecursionError) as error:
        raise EvidencePackError(reason=f"index: {error}") from None
    capabilities = NodeCapabilities(lambda: 0.0)
    capabilities.packs.note_refusal()
    fixed = ChainContext(
        chain=context.chain,
        node=_FixedNode(source, block),
        index=_FixedIndex(facts),
        settings=given.settings,
        now_s=lambda: float(given.now_s),
        newest=lambda: block,
        static_results=context.static_results,
        capabilities=capabilities,
        memory=ChainMemory(lambda: 0.0, secret=given.secret),
        is_replayable=True,
    )
    *_, report = [each async for each in scan(fixed, token)]
    return msgspec.structs.replace(report, evidence=())


class RecordedAnswers:
    """Recorded answers of a node, by request."""

    def __init__(self, answers: Mapping[bytes, RpcAnswer]) -> None:
        self._answers = answers
        self.unknown = 0
        """Number of requests without an answer."""

    async def answer(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        """Return the answers in order; a missing one as if the method did not exist."""
        found = [self._answers.get(request_key(each)) for each in requests]
        self.unknown += found.count(None)
        return [NO_SUCH_METHOD if each is None else each for each in found]
