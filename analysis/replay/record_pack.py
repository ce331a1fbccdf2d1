"""Recording of an evidence pack: a separate analysis at one block, with all its calls."""

import secrets
from collections.abc import Sequence
from importlib.metadata import version
from typing import cast

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.node import Node
from analysis.replay.answer_parts import answer_parts
from analysis.replay.evidence_pack import (
    MOST_BYTES,
    MOST_CALLS,
    EvidencePack,
    EvidencePackError,
    Given,
    PackMethod,
    RecordedCall,
    encode_pack,
)
from analysis.replay.fixed_analysis import analyse_fixed, chain_facts, request_key
from core.evm.primitives import Address
from core.rpc.messages import RpcAnswer, RpcRequest


class _Recorder:
    """A node that records its answers, each once."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._kept: dict[bytes, tuple[RpcRequest, RpcAnswer]] = {}

    async def answer(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        """Return the answers in order, recorded ones from memory.

        Raises UpstreamError, EvidencePackError for more calls than a pack may contain.
        """
        keys = [request_key(each) for each in requests]
        new = {
            key: request
            for key, request in zip(keys, requests, strict=True)
            if key not in self._kept
        }
        if len(self._kept) + len(new) > MOST_CALLS:
            raise EvidencePackError(reason=f"the analysis makes more than {MOST_CALLS} calls")
        if new:
            answers = await self._node.batch(list(new.values()))
            for (key, request), answer in zip(new.items(), answers, strict=True):
                self._kept[key] = request, answer
        return [self._kept[key][1] for key in keys]

    def calls(self) -> tuple[RecordedCall, ...]:
        """Return the calls in an order that does not depend on time."""
        return tuple(
            RecordedCall(
                method=cast("PackMethod", request.method),
                params=request.params,
                answer=answer_parts(request.method, answer),
            )
            for _, (request, answer) in sorted(self._kept.items(), key=lambda kept: kept[0])
        )


async def record_pack(context: ChainContext, token: Address) -> EvidencePack:
    """Analyse the token at the newest block, and return the report with every call behind it.

    The analysis is separate: reads are sent unpacked, external services are not queried. The pack
    is not signed. Raises TokenRefusedError, UpstreamError, EvidencePackError where a pack would be
    too large.
    """
    block = context.newest() or await context.node.fetch_head()
    anchors = [anchor.address for anchor in context.chain.anchors]
    quotes = [anchor for anchor in anchors if anchor != token]
    known = await context.index.known(context.chain, token, quotes, block)
    given = Given(
        settings=context.settings,
        index=msgspec.Raw(msgspec.json.encode(known, order="sorted")),
        secret=secrets.token_hex(16),
        now_s=int(context.now_s()),
        chain_facts=chain_facts(context.chain),
    )
    recorder = _Recorder(context.node)
    report = await analyse_fixed(context, recorder, token, block=block, given=given)
    pack = EvidencePack(
        made_by=f"assay {version('assay')}",
        chain_id=context.chain.id,
        block=block,
        given=given,
        calls=recorder.calls(),
        report=report,
    )
    if len(encode_pack(pack)) > MOST_BYTES:
        raise EvidencePackError(reason=f"the calls take more than {MOST_BYTES} bytes")
    return pack
