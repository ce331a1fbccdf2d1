"""Protects the choice of simulation methods, and the committed code of the probes."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from analysis import probes
from analysis.pipeline.chain_context import ChainContext
from analysis.simulation.eth_call_backend import cannot_tell
from analysis.simulation.trace_backend import is_possible
from analysis.static.evm.opcodes import NUMBER
from assay.demo.compile import compile_runtime
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.chain.contexts import LACKING, Lacking, judge
from tests.harness.chain.transactions import Chain
from tests.harness.node.counting import CountingNode
from tests.harness.static.proxy_codes import CLONES

METHODS = {"simulate": "eth_simulateV1", "traces": "debug_traceCall", "calls": "eth_call"}


@pytest.mark.parametrize("back_end", METHODS)
async def test_the_evidence_names_the_method(
    chain: Chain, context: ChainContext, back_end: str
) -> None:
    context = msgspec.structs.replace(context, node=Lacking(context.node, LACKING[back_end]))
    report = await judge(context, chain.world.token("honest").address)
    bodies = [msgspec.json.decode(row.body) for row in report.evidence if ":" in row.key]
    played = {body["played_by"] for body in bodies if "played_by" in body}
    assert played == {METHODS[back_end]}


async def test_what_a_node_lacks_is_not_asked_again_at_once(
    chain: Chain, context: ChainContext
) -> None:
    node = CountingNode(Lacking(context.node, LACKING["traces"]))
    context = msgspec.structs.replace(context, node=node)
    token = chain.world.token("honest").address
    await judge(context, token)
    called_methods = [request.method for request in node.requests]
    assert "eth_simulateV1" in called_methods
    node.requests.clear()
    await judge(context, token)
    methods = [request.method for request in node.requests]
    assert "debug_traceCall" in methods
    assert "eth_simulateV1" not in methods


@pytest.mark.parametrize("option", ["stateOverrides", "blockOverrides"])
async def test_traces_without_overrides_are_not_believed(
    chain: Chain, context: ChainContext, option: str
) -> None:
    """Such a node would sell in the block of the buy, or from an account that holds nothing."""

    class Deaf(CountingNode):
        async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
            return await super().batch([without(request, option) for request in requests])

    context = msgspec.structs.replace(context, node=Deaf(Lacking(context.node, LACKING["traces"])))
    report = await judge(context, chain.world.token("melting").address)
    assert report.pools is not None
    assert [(pool.buy, pool.sell) for pool in report.pools] == [(None, None)]
    assert not context.capabilities.traces.is_worth_trying
    head = await context.node.fetch_head()
    assert await is_possible(context.node, context.capabilities.traces, head) is False


def without(request: RpcRequest, option: str) -> RpcRequest:
    if request.method != "debug_traceCall":
        return request
    call, block, options = request.params
    assert isinstance(options, dict)
    return RpcRequest(request.method, (call, block, {**options, option: {}}))


@pytest.mark.parametrize("name", ["ORIGIN", "NUMBER", "TIMESTAMP", "TLOAD", "CALL", "STATICCALL"])
def test_a_code_that_may_tell_the_difference_is_known(name: str) -> None:
    telling = bytes([NUMBER[name]])
    plain = bytes.fromhex("6001600055")
    assert cannot_tell([plain])
    assert not cannot_tell([plain + telling])
    assert not cannot_tell([plain, plain + telling])
    # as the operand of a PUSH it is a number and no instruction
    assert cannot_tell([b"\x60" + telling + plain])


def test_a_proxy_may_delegate_to_what_was_looked_into_and_nowhere_else() -> None:
    plain, telling = bytes.fromhex("6001600055"), bytes([NUMBER["NUMBER"]])
    clone = bytes.fromhex(CLONES["EIP-1167"][0].format("be" * 20))
    assert cannot_tell([clone, plain])
    assert not cannot_tell([clone, telling])
    assert not cannot_tell([clone])
    # delegates to the address in a private slot, and shows an innocent elsewhere
    decoy = bytes.fromhex("365f5f375f5f365f60075460018060a01b03165af43d5f5f3e3d5ff3")
    assert not cannot_tell([decoy, plain])
    assert not cannot_tell([bytes([NUMBER["STATICCALL"]]), plain])


async def test_a_fault_of_one_play_is_no_lack(chain: Chain, context: ChainContext) -> None:
    class Failing(CountingNode):
        async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
            answers = await super().batch(requests)
            busy = RpcFault(code=-32000, message="execution aborted (timeout = 5s)")
            return [
                busy if request.method == "eth_simulateV1" else answer
                for request, answer in zip(requests, answers, strict=True)
            ]

    context = msgspec.structs.replace(context, node=Failing(context.node))
    report = await judge(context, chain.world.token("honest").address)
    assert report.pools is not None
    assert [(pool.buy, pool.sell) for pool in report.pools] == [(None, None)]
    assert context.capabilities.simulation.is_worth_trying


# --- probes -------------------------------------------------------------------------------------

FOLDER = Path(probes.__file__).parent

SOURCES = sorted(FOLDER.glob("*.sol"))


@pytest.mark.compiler
def test_every_probe_has_its_source() -> None:
    assert SOURCES
    assert {path.stem for path in FOLDER.glob("*.hex")} == {path.stem for path in SOURCES}


@pytest.mark.compiler
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_committed_code_is_what_the_source_makes(source: Path) -> None:
    committed = probes.runtime(source.stem)
    assert re.fullmatch("0x(?:[0-9a-f]{2})+", committed)
    assert committed == "0x" + compile_runtime(source)
