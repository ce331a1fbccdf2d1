"""Whether state can be read at a block given by its hash (EIP-1898)."""

from assay.doctor.check import Check, CheckFinding, Steps, Subject, ask, hex_of, ok
from assay.doctor.tracers import RETURN_TIME, call_with, drawn_word, pinned
from core.rpc.messages import RpcFault, RpcRequest


def _look(subject: Subject) -> Steps:
    head, anchor = subject.head, subject.chain.wrapped_native.address
    nowhere = {"blockHash": drawn_word(head, "no block")}
    answers = yield ask(
        RpcRequest("eth_getCode", (anchor, pinned(head))),
        RpcRequest("eth_getStorageAt", (anchor, "0x" + "0" * 64, pinned(head))),
        call_with(None, pinned(head), to=None, data=RETURN_TIME),
        RpcRequest("eth_getCode", (anchor, nowhere)),
    )
    hex_of(answers[0], asked="eth_getCode at a block hash")
    hex_of(answers[1], asked="eth_getStorageAt at a block hash")
    told = int.from_bytes(hex_of(answers[2], asked="eth_call at a block hash"))
    if told != head.ref.time_s:
        seen = f"a call at block {head.number} sees the time {told}, not {head.ref.time_s}"
        return [CheckFinding(status="failed", seen=seen)]
    if not isinstance(answers[3], RpcFault):
        seen = "state at a hash of no block is answered: the hash is ignored"
        return [CheckFinding(status="failed", seen=seen)]
    return [ok("code, storage and calls at a block hash")]


CHECK = Check(
    name="state by block hash",
    group="state",
    question="can state be read at a block's hash",
    look=_look,
    costs="no token can be analysed: all reads of an analysis are pinned to one block's hash",
    mend="use a node with EIP-1898 block arguments",
)
