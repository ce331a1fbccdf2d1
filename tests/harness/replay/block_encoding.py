"""A block as bytes: its header as JSON, its logs as JSON one after another, and where each is."""

from array import array
from collections.abc import Iterable
from functools import lru_cache

import msgspec
from eth_utils.crypto import keccak

from core.evm.primitives import Hash32
from tests.harness.replay.block_maker import ReplayBlock
from tests.harness.replay.chain_events import EventLog, encode_event
from tests.harness.replay.log_formats import LogFormatName, log_template, shown_address

_BLOOM_BITS = 2048
_ZERO_HASH = "0x" + "0" * 64
_GAS_LIMIT = 36_000_000
_BASE_FEE_WEI = 10**9
_EMPTY_UNCLES = "0x" + keccak(b"\xc0").hex()


class EncodedBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A block as it goes over the wire."""

    number: int
    hash: Hash32
    header: bytes
    """The result of eth_getBlockByHash."""
    logs: bytes
    """JSON objects, each with a comma behind."""
    starts: "array[int]"
    """Offset of each in `logs`, and the end of the last."""
    emitted: tuple[EventLog, ...]
    transactions: "array[int]"
    """Index of the transaction that emitted each log."""
    transaction_hashes: tuple[Hash32, ...]


def encode_block(
    block: ReplayBlock, log_format: LogFormatName, *, has_transactions: bool
) -> EncodedBlock:
    """Header and logs as a node of this kind would send them."""
    emitted = tuple(encode_event(event) for event in block.events)
    count = block.transactions[-1] + 1 if emitted else 0
    hashes = tuple(block.transaction_hash(at) for at in range(count))
    logs, starts = _encode_logs(block, emitted, hashes, log_format)
    return EncodedBlock(
        number=block.number,
        hash=block.hash,
        header=_encode_header(block, emitted, hashes if has_transactions else ()),
        logs=logs,
        starts=starts,
        emitted=emitted,
        transactions=block.transactions,
        transaction_hashes=hashes,
    )


def bloom_of(emitted: Iterable[EventLog]) -> int:
    """The filter of 2,048 bits over addresses and topics. Source: the Yellow Paper, 4.4.3."""
    items = {item for log in emitted for item in (log.address, *log.topics)}
    bloom = 0
    for item in items:
        bloom |= _bits_of(item)
    return bloom


@lru_cache(maxsize=1 << 18)
def _bits_of(item: str) -> int:
    digest = keccak(hexstr=item)
    places = (int.from_bytes(digest[at : at + 2], "big") % _BLOOM_BITS for at in (0, 2, 4))
    first, second, third = places
    return 1 << first | 1 << second | 1 << third


def _encode_logs(
    block: ReplayBlock,
    emitted: tuple[EventLog, ...],
    hashes: tuple[Hash32, ...],
    log_format: LogFormatName,
) -> "tuple[bytes, array[int]]":
    template = log_template(
        log_format, number=block.number, block_hash=block.hash, time_s=block.time_s
    )
    starts, parts, length, first_of = array("Q", [0]), [], 0, 0
    for at, (log, transaction) in enumerate(zip(emitted, block.transactions, strict=True)):
        if at and transaction != block.transactions[at - 1]:
            first_of = at
        text = template % {
            "address": shown_address(log_format, log.address),
            "topics": '"' + '","'.join(log.topics) + '"' if log.topics else "",
            "data": log.data,
            "transactionHash": hashes[transaction],
            "transactionIndex": hex(transaction),
            "logIndex": hex(at),
            "transactionLogIndex": hex(at - first_of),
        }
        parts.append(text)
        length += len(text)
        starts.append(length)
    return "".join(parts).encode("ascii"), starts


def _encode_header(
    block: ReplayBlock, emitted: tuple[EventLog, ...], hashes: tuple[Hash32, ...]
) -> bytes:
    return msgspec.json.encode(
        {
            "number": hex(block.number),
            "hash": block.hash,
            "parentHash": block.parent_hash,
            "timestamp": hex(block.time_s),
            "logsBloom": f"0x{bloom_of(emitted):0512x}",
            "miner": "0x" + block.hash[2:42],
            "baseFeePerGas": hex(_BASE_FEE_WEI),
            "difficulty": "0x0",
            "totalDifficulty": "0x0",
            "extraData": "0x",
            "gasLimit": hex(_GAS_LIMIT),
            "gasUsed": hex(min(_GAS_LIMIT, 50_000 * len(emitted))),
            "mixHash": _ZERO_HASH,
            "nonce": "0x" + "0" * 16,
            "receiptsRoot": block.hash,
            "sha3Uncles": _EMPTY_UNCLES,
            "size": "0x400",
            "stateRoot": block.hash,
            "transactionsRoot": block.hash,
            "transactions": hashes,
            "uncles": (),
        }
    )
