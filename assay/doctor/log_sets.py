"""Logs of nodes, as sets to compare. No I/O."""

import msgspec

from assay.doctor.check import ProbeAnswer, result_of
from core.evm.primitives import Hash32
from core.rpc.headers import Header
from core.rpc.log_answers import plain_logs
from core.rpc.messages import RpcRequest
from indexer.answer_checks import bloom_mask


class NodeLog(msgspec.Struct, frozen=True, rename="camel"):
    """One log."""

    address: str
    topics: tuple[str, ...]
    data: str
    block_number: str
    block_hash: str
    log_index: str

    @property
    def height(self) -> int:
        """Return the number of its block."""
        return int(self.block_number, 16)


class _Receipt(msgspec.Struct):
    logs: list[NodeLog]


def logs_of(answer: ProbeAnswer, *, what: str) -> list[NodeLog]:
    """Decode the answer to eth_getLogs. Raises NotHeldError, and ValueError."""
    return msgspec.json.decode(plain_logs(result_of(answer, what=what)), type=list[NodeLog])


def receipt_logs(answer: ProbeAnswer, *, what: str) -> list[NodeLog] | None:
    """Decode the logs in the answer to eth_getBlockReceipts. None: the node has no such block.

    Raises NotHeldError, and msgspec's errors.
    """
    raw = result_of(answer, what=what)
    receipts = msgspec.json.decode(raw, type=list[_Receipt] | None)
    return None if receipts is None else [log for one in receipts for log in one.logs]


def query(first: int, last: int, topics: tuple[Hash32, ...], address: object = None) -> RpcRequest:
    """Build the request for logs of a block range. `address` None: of all contracts."""
    where: dict[str, object] = {
        "fromBlock": hex(first),
        "toBlock": hex(last),
        "topics": [list(topics)],
    }
    if address is not None:
        where["address"] = address
    return RpcRequest("eth_getLogs", (where,))


def query_block(header: Header, topics: tuple[Hash32, ...] = ()) -> RpcRequest:
    """Build the request for logs of one block by its hash; without topics, for all."""
    where: dict[str, object] = {"blockHash": header.ref.hash}
    return RpcRequest("eth_getLogs", ({**where, "topics": [list(topics)]} if topics else where,))


def lacks_logs(header: Header, logs: list[NodeLog]) -> bool:
    """True if the block's bloom filter contains an address or topic that the logs lack."""
    items = {bytes.fromhex(log.address[2:]) for log in logs}
    items |= {bytes.fromhex(topic[2:]) for log in logs for topic in log.topics}
    found = 0
    for item in items:
        found |= bloom_mask(item)
    return bool(header.logs_bloom & ~found)
