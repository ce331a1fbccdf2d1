"""Answers to `eth_getLogs` as different nodes write them, whole or damaged, made from a seed."""

import json
import random
from collections.abc import Callable, Mapping, Sequence

import msgspec
from eth_utils.address import to_checksum_address

TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
SWAP = "d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822"
SHAPES = ((3, 32), (3, 64), (3, 128), (4, 0), (1, 96), (0, 0), (2, 7))
"""Topics and bytes of data."""

Members = list[tuple[str, str]]
"""Key and value of a JSON object, as they are written."""


class Written(msgspec.Struct, frozen=True):
    """Form in which a node writes its logs."""

    keys: tuple[str, ...]
    comma: str = ","
    colon: str = ":"
    between: str = ","
    """Between two logs."""
    is_checksummed: bool = False


NODES: Mapping[str, Written] = {
    "geth": Written(
        (
            *("address", "topics", "data", "blockNumber", "transactionHash"),
            *("transactionIndex", "blockHash", "blockTimestamp", "logIndex", "removed"),
        )
    ),
    "older geth": Written(
        (
            *("address", "topics", "data", "blockNumber", "transactionHash"),
            *("transactionIndex", "blockHash", "logIndex", "removed"),
        )
    ),
    "erigon of 2022": Written(
        (
            *("address", "topics", "data", "blockNumber", "timestamp", "transactionHash"),
            *("transactionIndex", "blockHash", "logIndex", "removed"),
        )
    ),
    "reth": Written(
        (
            *("address", "topics", "data", "blockHash", "blockNumber", "blockTimestamp"),
            *("transactionHash", "transactionIndex", "logIndex", "removed"),
        )
    ),
    "besu": Written(
        (
            *("logIndex", "removed", "blockNumber", "blockHash", "blockTimestamp"),
            *("transactionHash", "transactionIndex", "address", "data", "topics"),
        ),
        is_checksummed=True,
    ),
    "nethermind": Written(
        (
            *("address", "blockHash", "blockNumber", "data", "logIndex", "removed", "topics"),
            *("transactionHash", "transactionIndex", "transactionLogIndex"),
        )
    ),
    "with blanks": Written(
        (
            *("address", "topics", "data", "blockNumber", "transactionHash"),
            *("transactionIndex", "blockHash", "blockTimestamp", "logIndex", "removed"),
        ),
        comma=", ",
        colon=" : ",
        between=" ,\n  ",
    ),
}


class MadeLog(msgspec.Struct, frozen=True, kw_only=True):
    """One log, before a node writes it."""

    address: str
    topics: tuple[str, ...]
    data: str
    block_number: int
    log_index: int
    tx_index: int
    block_hash: str
    tx_hash: str
    time_s: int


def lot_of(seed: object) -> random.Random:
    """Chance that is the same for the same seed."""
    return random.Random(str(seed))  # noqa: S311 - makes tests repeatable, guards nothing


def make_logs(lot: random.Random, count: int) -> list[MadeLog]:
    """Logs in chain order, of a few shapes."""
    number, index = lot.choice([0, 9, 19_000_000]), 0
    made = []
    block_hash = lot.randbytes(32).hex()
    for _ in range(count):
        if lot.random() < 0.3:
            number, index, block_hash = number + lot.randint(1, 20), 0, lot.randbytes(32).hex()
        topics, size = lot.choice(SHAPES) if lot.random() < 0.4 else SHAPES[0]
        first = lot.choice([TRANSFER, TRANSFER, SWAP])
        others = ["00" * 12 + lot.randbytes(20).hex() for _ in range(topics - 1)]
        made.append(
            MadeLog(
                address=lot.randbytes(20).hex(),
                topics=(first, *others)[:topics],
                data=lot.randbytes(size).hex(),
                block_number=number,
                log_index=index,
                tx_index=index // 3,
                block_hash=block_hash,
                tx_hash=lot.randbytes(32).hex(),
                time_s=1_700_000_000 + number,
            )
        )
        index += lot.randint(1, 9)
    return made


def members_of(log: MadeLog, node: Written) -> Members:
    """The log's members in the node's order."""
    address = "0x" + log.address
    values: dict[str, object] = {
        "address": to_checksum_address(address) if node.is_checksummed else address,
        "topics": ["0x" + topic for topic in log.topics],
        "data": "0x" + log.data,
        "blockNumber": hex(log.block_number),
        "blockHash": "0x" + log.block_hash,
        "blockTimestamp": hex(log.time_s),
        "timestamp": "0x0",
        "transactionHash": "0x" + log.tx_hash,
        "transactionIndex": hex(log.tx_index),
        "transactionLogIndex": hex(log.log_index % 3),
        "logIndex": hex(log.log_index),
        "removed": False,
    }
    return [(f'"{key}"', json.dumps(values[key], separators=(",", ":"))) for key in node.keys]


def write_answer(logs: Sequence[Members], node: Written) -> bytes:
    """The answer's text."""
    texts = (
        "{" + node.comma.join(key + node.colon + value for key, value in log) + "}" for log in logs
    )
    return ("[" + node.between.join(texts) + "]").encode()


def put(key: str, value: str) -> Callable[[Members, random.Random], Members]:
    """Set a member, or add it at the end."""

    def change(log: Members, _: random.Random) -> Members:
        own = f'"{key}"'
        if own in dict(log):
            return [(name, value if name == own else text) for name, text in log]
        return [*log, (own, value)]

    return change


def somewhere(change: Callable[[str], str]) -> Callable[[Members, random.Random], Members]:
    """Change the value of one member."""

    def apply(log: Members, lot: random.Random) -> Members:
        chosen = lot.randrange(len(log))
        return [
            (key, change(value)) if at == chosen else (key, value)
            for at, (key, value) in enumerate(log)
        ]

    return apply


def _shuffled(log: Members, lot: random.Random) -> Members:
    return lot.sample(log, len(log))


def _without_one(log: Members, lot: random.Random) -> Members:
    gone = lot.randrange(len(log))
    return log[:gone] + log[gone + 1 :]


def _doubled(log: Members, lot: random.Random) -> Members:
    return [*log, lot.choice(log)]


def _broken_digit(value: str) -> str:
    return value[:-2] + "g" + value[-1:] if len(value) > 4 else value


CHANGES: Mapping[str, Callable[[Members, random.Random], Members]] = {
    "keys in another order": _shuffled,
    "a member less": _without_one,
    "a member twice": _doubled,
    "a member with two values": lambda log, lot: [('"address"', lot.choice(log)[1]), *log],
    "upper case": somewhere(lambda value: value.upper().replace("0X", "0x")),
    "upper case with its x": somewhere(str.upper),
    "null": somewhere(lambda _: "null"),
    "a number": somewhere(lambda _: "17"),
    "an object": somewhere(lambda value: '{"a":' + value + "}"),
    "a digit less": somewhere(lambda value: value[:-2] + value[-1:]),
    "a digit more": somewhere(lambda value: value[:-1] + "0" + value[-1:]),
    "no hex": somewhere(_broken_digit),
    "blanks in a value": somewhere(lambda value: value.replace("0x", "0x ", 1)),
    "blanks around": somewhere(lambda value: f" \t{value}\n"),
    "an escape": somewhere(lambda value: value.replace("x", "\\u0078", 1)),
    "a key with an escape": lambda log, _: [
        (key.replace("a", "\\u0061"), value) for key, value in log
    ],
    "removed": put("removed", "true"),
    "an extra hex field": put("l1Fee", '"0x1f4"'),
    "an extra text": put("note", '"plain"'),
    "an extra number": put("note", "-1.5e3"),
    "an extra list": put("note", '["0x1",2]'),
    "an extra object": put("note", '{"a":1}'),
    "lists in lists without end": put("note", "[" * 50_000 + "]" * 50_000),
    "a brace in a text": put("note", '"{"'),
    "an object's end in a text": put("note", '"},{"'),
    "an escaped log in a text": put("note", '"},{\\"address\\":\\"0x00\\"},{"'),
    "a time that is a number": put("blockTimestamp", "1700000000"),
    "a time of 0": put("blockTimestamp", '"0x0"'),
    "a time that is none": put("blockTimestamp", '"soon"'),
    "a huge time": put("blockTimestamp", '"0xffffffffffffffff"'),
    "a huge height": put("blockNumber", '"0x8000000000000000"'),
    "a height of 17 digits": put("blockNumber", '"0x10000000000000000"'),
    "a height with zeros in front": put("blockNumber", '"0x00000000000000000a"'),
    "an empty height": put("blockNumber", '"0x"'),
    "a huge index": put("logIndex", '"0x80000000"'),
    "five topics": put("topics", json.dumps(["0x" + TRANSFER] * 5)),
    "no topics": put("topics", "[]"),
    "topics that are a text": put("topics", '"0x"'),
    "a topic that is a number": put("topics", "[1]"),
    "odd data": put("data", '"0xabc"'),
    "much data": put("data", '"0x' + "ab" * 40_000 + '"'),
    "no transaction": put("transactionHash", '"0x"'),
}


def damage(text: bytes, lot: random.Random) -> bytes:
    """The text with some bytes changed, lost or added."""
    at = lot.randrange(len(text) + 1)
    end = min(len(text), at + lot.choice([0, 1, 1, 5]))
    put_in = lot.choice([b"", b"0", b'"', b"{", b"}", b",", b"]", b"\\", b"\xff", b" ", b"},{"])
    return text[:at] + put_in + text[end:]
