"""Protects simulations on chains of any pace, on nodes that keep Geth's order.

Source: go-ethereum internal/ethapi/simulate.go, sanitizeChain.
"""

from collections.abc import Sequence
from typing import Any, cast

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.node import Node
from core.evm.primitives import BlockRef
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain

MOST_BLOCKS = 256
FILLER_STEP_S = 12


class Strict:
    """A real node that refuses simulations as Geth does."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.simulated = 0

    async def fetch_head(self) -> BlockRef:
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        answers = await self._node.batch(requests)
        return [
            answer
            if request.method != "eth_simulateV1"
            else self._judged(cast("dict[str, Any]", request.params[0]), answer)
            for request, answer in zip(requests, answers, strict=True)
        ]

    def _judged(self, options: dict[str, Any], answer: RpcAnswer) -> RpcAnswer:
        self.simulated += 1
        wanted = [block["blockOverrides"] for block in options["blockStateCalls"]]
        places = [(int(block["number"], 16), int(block["time"], 16)) for block in wanted]
        number, time_s = places[0][0] - 1, places[0][1] - 1
        if places[-1][0] - number > MOST_BLOCKS:
            return RpcFault(code=-38026, message="too many blocks")
        for next_number, next_s in places:
            time_s += FILLER_STEP_S * (next_number - number - 1)
            if next_number <= number or next_s <= time_s:
                return RpcFault(code=-38021, message="block timestamps must be in order")
            number, time_s = next_number, next_s
        return answer


@pytest.mark.parametrize("block_time_s", [0.1, 0.45, 2.0, 12.0, 30.0])
async def test_chains_of_any_pace_are_played_on(
    chain: Chain, context: ChainContext, block_time_s: float
) -> None:
    context = msgspec.structs.replace(
        context, chain=msgspec.structs.replace(context.chain, block_time_s=block_time_s)
    )
    node = Strict(context.node)
    context = msgspec.structs.replace(context, node=node)
    report = await judge(context, chain.world.token("both_tax").address)
    assert report.pools is not None
    (pool,) = report.pools
    assert (pool.buy, pool.sell) == ("passed", "passed")
    assert pool.buy_tax == pytest.approx(5)
    assert pool.sell_tax == pytest.approx(9)
    assert "sell_later" in {row.key.split(":")[0] for row in report.evidence}
    assert node.simulated > 3
