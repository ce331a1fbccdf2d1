"""Logs of given contracts in the newest blocks, in as long a range as the node answers. No I/O."""

from collections.abc import Sequence

import msgspec

from assay.doctor.check import Asking, NotHeldError, Subject, ask, describe_answer, is_result
from assay.doctor.log_sets import NodeLog, logs_of
from core.evm.primitives import Address, Hash32
from core.rpc.messages import RpcRequest

_SHRINK = 8
_LEAST_BLOCKS = 8


class RecentLogs(msgspec.Struct, frozen=True, kw_only=True):
    """Logs, and the blocks that were searched."""

    logs: list[NodeLog]
    blocks: int


def recent_logs(
    subject: Subject,
    contracts: Sequence[Address],
    topics: Sequence[Hash32] = (),
    *,
    until: int | None = None,
) -> Asking[RecentLogs]:
    """Search blocks up to `until`, in as long a range as is answered. None: up to the head.

    Raises NotHeldError where even few blocks are refused.
    """
    last = subject.head.number if until is None else until
    size = min(subject.indexer.max_log_range, last + 1)
    while True:
        where: dict[str, object] = {
            "fromBlock": hex(last - size + 1),
            "toBlock": hex(last),
            "address": list(dict.fromkeys(contracts)),
        }
        if topics:
            where["topics"] = [list(topics)]
        answers = yield ask(RpcRequest("eth_getLogs", (where,)))
        if is_result(answers[0]):
            return RecentLogs(logs=logs_of(answers[0], asked="recent logs"), blocks=size)
        if size <= _LEAST_BLOCKS:
            message = f"logs of {size} blocks: {describe_answer(answers[0])}"
            raise NotHeldError(message)
        size = max(size // _SHRINK, _LEAST_BLOCKS)
