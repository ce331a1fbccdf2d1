"""Reads of logs from block receipts, for nodes that reject `eth_getLogs` without addresses.

Receipts contain all logs of a block, so they can be compared with the whole bloom filter: unlike
with queried logs, an omission does not go unnoticed.
"""

from collections.abc import Sequence

import numpy as np

from core.errors import UpstreamError
from core.evm.primitives import Hash32
from core.rpc.client import RpcClient
from core.rpc.failures import DisagreementError, MalformedAnswerError
from core.rpc.headers import Header
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from indexer.answer_checks import bloom_mask, check_block_logs
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import HASH_BYTES, LogColumns
from indexer.decode.receipts import BlockReceipts, decode_receipts


async def fetch_logs_by_receipts(
    client: RpcClient, headers: Sequence[Header], *, topics: Sequence[Hash32]
) -> list[LogColumns]:
    """Return the logs with these topics of each of these blocks. Raises UpstreamError."""
    requests = [RpcRequest("eth_getBlockReceipts", (header.ref.hash,)) for header in headers]

    def check(answers: Sequence[RpcAnswer]) -> list[LogColumns]:
        return [
            _logs_of(answer, header, topics)
            for header, answer in zip(headers, answers, strict=True)
        ]

    return await client.ask(requests, check)


def _logs_of(answer: RpcAnswer, header: Header, topics: Sequence[Hash32]) -> LogColumns:
    request = f"receipts of block {header.ref.hash}"
    if isinstance(answer, RpcFault):
        raise MalformedAnswerError(service="node", reason=f"{request}: {answer.message}")
    try:
        receipts = decode_receipts(answer)
    except ValueError as error:  # msgspec's errors are ValueErrors, too
        raise MalformedAnswerError(service="node", reason=f"{request}: {error}") from None
    if receipts is None:
        raise UpstreamError(service="node", reason=f"has no {request}")
    _check_receipts(receipts, header)
    logs = receipts.logs.only_topics(bytes.fromhex(text[2:]) for text in topics)
    check_block_logs(logs, header, topics=topics)
    return logs


def _check_receipts(receipts: BlockReceipts, header: Header) -> None:
    """Check that receipts are of the block, and include all logs in its bloom filter."""
    request = f"eth_getBlockReceipts({header.ref.hash})"
    own = np.frombuffer(bytes.fromhex(header.ref.hash[2:]), np.uint8)
    strange = (receipts.block_hashes != own).any(axis=1)
    if strange.any():
        other = receipts.block_hashes[strange][0].tobytes().hex()
        raise DisagreementError(
            first=request, second="its answer", difference=f"a receipt is of block 0x{other}"
        )
    # Bits that the filter lacks are no error: some chains leave logs of the system out of it.
    if header.logs_bloom & ~_bloom_of(receipts.logs):
        raise DisagreementError(
            first=request,
            second=f"the header of block {header.number}",
            difference="the bloom filter announces logs that the receipts lack",
        )


def _bloom_of(logs: LogColumns) -> int:
    items: set[bytes] = set()
    for group in logs.groups:
        items.update(keys_of(group.address))
        items.update(keys_of(group.topics.reshape(-1, HASH_BYTES)))
        if group.shape.topic0:
            items.add(group.shape.topic0)
    bloom = 0
    for item in items:
        bloom |= bloom_mask(item)
    return bloom
