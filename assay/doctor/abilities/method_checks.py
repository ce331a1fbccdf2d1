"""Check of the JSON-RPC methods that the product calls, each with an example request.

A test compares the names with the calls in the code.
"""

import msgspec

from assay.doctor.check import (
    Check,
    CheckFinding,
    ProbeFailure,
    Steps,
    Subject,
    ask,
    describe_answer,
    ok,
)
from assay.doctor.tracers import pinned
from core.evm.primitives import ZERO_ADDRESS
from core.rpc.headers import block_request, header_request
from core.rpc.messages import RpcFault, RpcRequest

_SLOT = "0x" + "0" * 64


class Method(msgspec.Struct, frozen=True, kw_only=True):
    """One method."""

    name: str
    is_optional: bool = False
    """True if the product has a substitute for it."""
    used_for: str


METHODS: tuple[Method, ...] = (
    Method(name="debug_traceCall", is_optional=True, used_for="simulated trades, second choice"),
    Method(
        name="debug_traceTransaction",
        is_optional=True,
        used_for="state that a creation left behind, first choice",
    ),
    Method(name="eth_call", used_for="all reads of contracts"),
    Method(name="eth_chainId", used_for="which chain an endpoint serves"),
    Method(
        name="eth_createAccessList",
        is_optional=True,
        used_for="state that a creation left behind, last choice",
    ),
    Method(name="eth_feeHistory", is_optional=True, used_for="tips of simulated trades"),
    Method(
        name="eth_getBalance",
        is_optional=True,
        used_for="coins of a sender, in checks of trades; who funded creators",
    ),
    Method(name="eth_getBlockByHash", used_for="following near the head"),
    Method(name="eth_getBlockByNumber", used_for="following, back-fills"),
    Method(name="eth_getBlockReceipts", is_optional=True, used_for="creators; logs, second choice"),
    Method(name="eth_getCode", used_for="the code of a token"),
    Method(name="eth_getLogs", used_for="pools, holders, trades, launches"),
    Method(name="eth_getStorageAt", used_for="owners, caps, switches"),
    Method(
        name="eth_getTransactionByHash", is_optional=True, used_for="data of a token's creation"
    ),
    Method(name="eth_getTransactionCount", is_optional=True, used_for="who funded creators"),
    Method(name="eth_getTransactionReceipt", is_optional=True, used_for="creators of launches"),
    Method(name="eth_simulateV1", is_optional=True, used_for="simulated trades"),
    Method(name="eth_subscribe", is_optional=True, used_for="new heads, over a WebSocket"),
)


def example_requests(subject: Subject) -> dict[str, RpcRequest]:
    """Build example requests by method.

    None for eth_subscribe, which HTTP does not have, and debug_traceTransaction, as nodes reject a
    transaction that they do not know.
    """
    head, block = subject.head, pinned(subject.head)
    call = {"to": ZERO_ADDRESS, "data": "0x", "gas": hex(100_000)}
    simulated = {"blockStateCalls": [{"calls": [call]}]}
    requests = (
        RpcRequest("debug_traceCall", (call, block, {"tracer": "callTracer"})),
        RpcRequest("eth_call", (call, block)),
        RpcRequest("eth_chainId"),
        RpcRequest("eth_createAccessList", (call, block)),
        RpcRequest("eth_feeHistory", ("0x1", "latest", [10, 90])),
        RpcRequest("eth_getBalance", (ZERO_ADDRESS, block)),
        block_request(head.ref.hash),
        header_request(head.number),
        RpcRequest("eth_getBlockReceipts", (head.ref.hash,)),
        RpcRequest("eth_getCode", (ZERO_ADDRESS, block)),
        RpcRequest("eth_getLogs", ({**block, "address": subject.chain.wrapped_native.address},)),
        RpcRequest("eth_getStorageAt", (ZERO_ADDRESS, _SLOT, block)),
        RpcRequest("eth_getTransactionByHash", (head.ref.hash,)),
        RpcRequest("eth_getTransactionCount", (ZERO_ADDRESS, block)),
        RpcRequest("eth_getTransactionReceipt", (head.ref.hash,)),
        RpcRequest("eth_simulateV1", (simulated, block)),
    )
    return {request.method: request for request in requests}


def _check_methods(subject: Subject) -> Steps:
    requests = example_requests(subject)
    answers = yield ask(*requests.values())
    missing = {
        method: describe_answer(answer)
        for method, answer in zip(requests, answers.all, strict=True)
        if isinstance(answer, RpcFault | ProbeFailure)
    }
    findings = [
        CheckFinding(
            status="degraded" if method.is_optional else "failed",
            subject=method.name,
            seen=missing[method.name],
            costs=f"not available: {method.used_for}",
        )
        for method in METHODS
        if method.name in missing
    ]
    return findings or [ok(f"all {len(requests)} methods")]


METHODS_PRESENT = Check(
    name="methods",
    group="node",
    question="are all methods there",
    look=_check_methods,
    costs="see each method",
    mend="open the eth namespace (and debug, without eth_simulateV1), or use another client",
)
