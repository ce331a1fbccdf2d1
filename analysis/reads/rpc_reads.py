"""Reads as JSON-RPC: the request of each one, and its answer."""

from typing import Final

import msgspec

from analysis.reads.chain_reads import CallRead, CodeRead, ContractRead, SlotRead
from analysis.reads.eth_reads import WORD, NoAnswer, Reply, read_code, read_reply, read_word
from core.errors import UpstreamError
from core.evm.primitives import Hash32
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

STATE_CHANGES: Final[dict[str, object]] = {
    "tracer": "prestateTracer",
    "tracerConfig": {"diffMode": True},
}
"""Trace options for the state that a transaction changes, before and after it."""


class NodeFault(msgspec.Struct, frozen=True, kw_only=True):
    """A read that the node failed. `ReadBatch` raises UpstreamError where its value is needed."""

    reason: str
    is_refusal: bool
    """The node sent an error object. False: it sent a result that cannot be decoded."""

    @property
    def error(self) -> UpstreamError:
        """Return the error to raise."""
        return UpstreamError(service="node", reason=self.reason)


ReadAnswer = Reply | NodeFault
"""Returned bytes, runtime code, or the 32 bytes of a slot; else a failure of contract or node."""


def read_request(read: ContractRead, *, block: Hash32) -> RpcRequest:
    """Return the request for a read whose addresses are known, at one block (EIP-1898)."""
    pinned = {"blockHash": block}
    match read:
        case CodeRead():
            return RpcRequest("eth_getCode", (read.address, pinned))
        case SlotRead():
            return RpcRequest("eth_getStorageAt", (read.contract, read.slot, pinned))
        case CallRead():
            return _call_request(read, pinned)


def _call_request(read: CallRead, pinned: dict[str, Hash32]) -> RpcRequest:
    to = {} if read.to is None else {"to": read.to}
    transaction = {**to, "data": "0x" + read.data.hex(), "gas": hex(read.gas)}
    state: dict[str, object] = {}
    if read.storage:
        state["stateDiff"] = dict(read.storage)
    if read.code is not None:
        state["code"] = read.code
    overrides = ({read.to: state},) if state else ()
    return RpcRequest("eth_call", (transaction, pinned, *overrides))


def read_answer(read: ContractRead, answer: RpcAnswer) -> ReadAnswer:
    """Return the answer to the request of a read."""
    try:
        match read:
            case CodeRead():
                return read_code(answer)
            case SlotRead():
                return read_word(answer).to_bytes(WORD)
            case CallRead():
                return read_reply(answer)
    except UpstreamError as error:
        return NodeFault(reason=error.reason, is_refusal=isinstance(answer, RpcFault))


def not_made(read: ContractRead) -> ReadAnswer:
    """Return the answer to a read whose address no earlier answer contains: as of an account that
    has no code, and of a call that fails."""
    return b"" if isinstance(read, CodeRead) else NoAnswer(reason="execution reverted")
