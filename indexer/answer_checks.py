"""Consistency checks of a node's answers: headers against each other, logs against headers and
query.

Each check raises DisagreementError, which names both requests. The hash of a header is not
recomputed, as chains differ in what they hash. A bloom filter of zeros is taken for none, as chains
without filters send it. Missing logs are suspected only where a block that was read by hash has
none at all; `indexer/head/second_reads.py` finds the others.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from core.evm.keccak import keccak
from core.evm.primitives import Address, BlockRef, Hash32
from core.process.arrays import ByteArray, Int64Array, Uint64Array
from core.rpc.failures import DisagreementError
from core.rpc.headers import Header, LogsBloom
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import LogColumns, LogGroup

_BLOOM_BITS = 2048
_MASKS_KEPT = 16_384
"""Contracts and topics whose bits are remembered, in about 8 MB."""


def check_number(header: Header, *, number: int) -> None:
    """Check that the block returned for a height has that height."""
    if header.number != number:
        raise DisagreementError(
            first=f"eth_getBlockByNumber({number})",
            second="its answer",
            difference=f"it is block {header.number}",
        )


def check_link(parent: BlockRef, child: BlockRef) -> None:
    """Check that the child is one higher and has the parent's hash."""
    if child.number != parent.number + 1 or child.parent_hash != parent.hash:
        raise DisagreementError(
            first=f"block {parent.number} ({parent.hash})",
            second=f"block {child.number} ({child.hash})",
            difference=f"the parent of the second is {child.parent_hash}",
        )


def check_anchor(found: Header | None, anchor: BlockRef) -> None:
    """Check that the node has a block that is known to be canonical.

    Otherwise the node is behind, maybe on an abandoned branch.
    """
    if found is None or found.ref.hash != anchor.hash:
        raise DisagreementError(
            first=f"eth_getBlockByNumber({anchor.number})",
            second="the block that is canonical",
            difference=f"it is {found.ref.hash if found else 'missing'}, not {anchor.hash}",
        )


def check_block_logs(logs: LogColumns, header: Header, *, topics: Sequence[Hash32]) -> None:
    """Check logs read by block hash: block, order, topics and bloom filter."""
    request = f"eth_getLogs(block {header.ref.hash})"
    _check_topics(logs, topics=topics, request=request)
    _check_doubles(logs, request=request)
    _check_within(logs, first=header.number, last=header.number, request=request)
    _check_hash(logs, header, request=request)
    if not header.logs_bloom:
        return  # the chain has no filters, or the block no logs: a second read shows which
    for item in _bloom_items(logs):
        if not may_contain(header.logs_bloom, item):
            raise DisagreementError(
                first=request,
                second=f"the header of block {header.number}",
                difference=f"a log has 0x{item.hex()}, which its bloom filter excludes",
            )


def check_range_logs(
    logs: LogColumns,
    *,
    first: int,
    last: int,
    topics: Sequence[Hash32],
    headers: Iterable[Header],
    address: Address | None = None,
) -> None:
    """Check logs read by range: bounds, order, topics, one hash a block, agreement with `headers`.

    `address`: the only contract whose logs were queried. None: any.
    """
    request = f"eth_getLogs({first} to {last})"
    _check_topics(logs, topics=topics, request=request)
    _check_doubles(logs, request=request)
    _check_within(logs, first=first, last=last, request=request)
    if address is not None:
        _check_emitter(logs, address, request=request)
    _check_one_hash_a_block(logs, request=request)
    for header in headers:
        check_block_logs(logs.in_block(header.number), header, topics=topics)


def is_suspiciously_empty(logs: LogColumns, header: Header, *, topics: Sequence[Hash32]) -> bool:
    """True if there are no logs at all, although the bloom filter contains one of the topics.

    The filter has false positives, so this is a reason to repeat the request, not an error.
    """
    return not len(logs) and any(
        may_contain(header.logs_bloom, bytes.fromhex(text[2:])) for text in topics
    )


def may_contain(bloom: LogsBloom, item: bytes) -> bool:
    """True if a bloom filter may contain an address or topic; False is certain."""
    mask = bloom_mask(item)
    return bloom & mask == mask


@lru_cache(maxsize=_MASKS_KEPT)
def bloom_mask(item: bytes) -> int:
    """Return the bits that an address or topic sets in a bloom filter.

    Source: the Yellow Paper, section 4.4.3 (three 11-bit indices from the item's keccak256).
    """
    digest = keccak(item)
    mask = 0
    for at in (0, 2, 4):
        mask |= 1 << (int.from_bytes(digest[at : at + 2], "big") % _BLOOM_BITS)
    return mask


def _bloom_items(logs: LogColumns) -> list[bytes]:
    """Return the distinct emitters and first topics."""
    emitters = {key for group in logs.groups for key in keys_of(group.address)}
    return [*sorted(emitters), *sorted({group.shape.topic0 for group in logs.groups})]


def _check_topics(logs: LogColumns, *, topics: Sequence[Hash32], request: str) -> None:
    found = {group.shape.topic0 for group in logs.groups if len(group)}
    strange = found - {bytes.fromhex(text[2:]) for text in topics}
    if strange:
        topic = min(strange)
        raise DisagreementError(
            first=request,
            second="its answer",
            difference=f"topic {'0x' + topic.hex() if topic else 'none'} was not requested",
        )


def _check_doubles(logs: LogColumns, *, request: str) -> None:
    numbers, indices = logs.block_numbers(), logs.log_indices()
    ascends = (numbers[1:] > numbers[:-1]) | (
        (numbers[1:] == numbers[:-1]) & (indices[1:] > indices[:-1])
    )
    if not ascends.all():
        raise DisagreementError(first=request, second="itself", difference="a log comes twice")


def _check_within(logs: LogColumns, *, first: int, last: int, request: str) -> None:
    for group in logs.groups:
        outside = (group.block_number < first) | (group.block_number > last)
        if outside.any():
            raise DisagreementError(
                first=request,
                second="its answer",
                difference=f"a log is of block {group.block_number[outside][0]}",
            )


def _check_emitter(logs: LogColumns, address: Address, *, request: str) -> None:
    own = np.frombuffer(bytes.fromhex(address[2:]), np.uint8)
    for group in logs.groups:
        strange = (group.address != own).any(axis=1)
        if strange.any():
            stranger = group.address[strange][0].tobytes().hex()
            raise DisagreementError(
                first=request,
                second="its answer",
                difference=f"a log is of 0x{stranger}, which was not requested",
            )


def _check_one_hash_a_block(logs: LogColumns, *, request: str) -> None:
    """Check all groups together; logs are in order, so only the first of each block and hash
    counts."""
    firsts = [_first_of_each(group) for group in logs.groups if len(group)]
    if not firsts:
        return
    numbers = np.concatenate([one for one, _ in firsts])
    hashes = np.concatenate([one for _, one in firsts])
    order = np.argsort(numbers, kind="stable")
    numbers, hashes = numbers[order], hashes[order]
    differs = (hashes[1:] != hashes[:-1]).any(axis=1)
    if (differs & (numbers[1:] == numbers[:-1])).any():
        raise DisagreementError(
            first=request, second="itself", difference="one block number has two hashes"
        )


def _first_of_each(group: LogGroup) -> tuple[Int64Array, Uint64Array]:
    """Return number and hash of the first log in each run with equal number and hash."""
    words = _as_words(group.block_hash)
    begins = np.ones(len(group), np.bool_)
    begins[1:] = group.block_number[1:] != group.block_number[:-1]
    for at in range(words.shape[1]):  # numpy takes five times as long along so short an axis
        begins[1:] |= words[1:, at] != words[:-1, at]
    return group.block_number[begins], words[begins]


def _as_words(hashes: ByteArray) -> Uint64Array:
    """Return hashes as four numbers each, for comparison only."""
    return hashes.view(np.uint64)


def _check_hash(logs: LogColumns, header: Header, *, request: str) -> None:
    own = np.frombuffer(bytes.fromhex(header.ref.hash[2:]), np.uint8)
    for group in logs.groups:
        others = (group.block_hash != own).any(axis=1)
        if others.any():
            raise DisagreementError(
                first=request,
                second=f"the header of block {header.number} ({header.ref.hash})",
                difference=f"a log is of block 0x{group.block_hash[others][0].tobytes().hex()}",
            )
