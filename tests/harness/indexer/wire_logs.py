"""Logs as a node would send them, and the rows of decoded logs in both decoders' forms."""

import re
from collections.abc import Mapping, Sequence

import msgspec
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from indexer.decode.log_columns import NO_TIME, LogColumns
from tests.harness.indexer.log_answers import MadeLog, Written

Row = tuple[object, ...]


def rows_of(logs: LogColumns) -> list[Row]:
    """Every log's values, in the order of the answer."""
    rows: list[Row] = []
    for group in logs.groups:
        rows += [
            (
                group.position[at],
                group.block_number[at],
                group.log_index[at],
                group.time_s[at],
                group.block_hash[at].tobytes(),
                group.tx_hash[at].tobytes(),
                group.address[at].tobytes(),
                group.shape.topic0 + group.topics[at].tobytes(),
                group.data[at].tobytes(),
            )
            for at in range(len(group))
        ]
        assert group.shape.topics == len(group.topics[0]) + bool(group.shape.topic0)
        assert group.shape.data_size == group.data.shape[1]
    return sorted(rows, key=lambda row: int(str(row[0])))


def expected_rows(logs: Sequence[MadeLog], node: Written) -> list[Row]:
    return [
        (
            at,
            log.block_number,
            log.log_index,
            log.time_s if "blockTimestamp" in node.keys else NO_TIME,
            bytes.fromhex(log.block_hash),
            bytes.fromhex(log.tx_hash),
            bytes.fromhex(log.address),
            bytes.fromhex("".join(log.topics)),
            bytes.fromhex(log.data),
        )
        for at, log in enumerate(logs)
    ]


class Argument(msgspec.Struct, frozen=True):
    """One argument of an event."""

    abi_type: str
    name: str
    indexed: bool


class Event(msgspec.Struct, frozen=True):
    """An event's name and arguments."""

    name: str
    arguments: tuple[Argument, ...]

    @property
    def topic0(self) -> str:
        """keccak256 of the canonical signature."""
        types = ",".join(argument.abi_type for argument in self.arguments)
        return "0x" + keccak(text=f"{self.name}({types})").hex()


def parse_event(declared: str) -> Event:
    """Read `event Name(type [indexed] name, ...)`."""
    match = re.fullmatch(r"event (\w+)\((.*)\)", declared)
    assert match is not None
    parts = [part.split() for part in match[2].split(", ")]
    return Event(
        match[1], tuple(Argument(words[0], words[-1], "indexed" in words) for words in parts)
    )


def encode_log(
    event: Event,
    values: Mapping[str, object],
    *,
    address: str,
    block_number: int = 1,
    block_hash: str = "0x" + "ab" * 32,
    log_index: int = 0,
) -> dict[str, object]:
    """The log of an event with these argument values."""
    indexed = [one for one in event.arguments if one.indexed]
    plain = [one for one in event.arguments if not one.indexed]
    topics = [event.topic0] + [
        "0x" + encode([one.abi_type], [values[one.name]]).hex() for one in indexed
    ]
    data = encode([one.abi_type for one in plain], [values[one.name] for one in plain])
    return wire_log(
        address=address,
        topics=topics,
        data="0x" + data.hex(),
        block_number=block_number,
        block_hash=block_hash,
        log_index=log_index,
    )


def wire_log(
    *,
    address: str,
    topics: Sequence[str],
    data: str,
    block_number: int = 1,
    block_hash: str = "0x" + "ab" * 32,
    log_index: int = 0,
) -> dict[str, object]:
    """Write a log of the given parts, well-formed or not."""
    return {
        "address": address,
        "topics": list(topics),
        "data": data,
        "blockNumber": hex(block_number),
        "blockHash": block_hash,
        "logIndex": hex(log_index),
        "transactionHash": "0x" + "cd" * 32,
        "transactionIndex": "0x0",
        "removed": False,
    }
