"""Forms of a log in different clients: fields, their order and case.

Sources: go-ethereum core/types/log.go, alloy's Log, Besu's LogResult, Nethermind's FilterLog;
Erigon's is Geth's, in 2022 with a stray `timestamp`.
"""

from functools import lru_cache
from typing import Literal

from core.evm.primitives import Address, checksum

LogFormatName = Literal["geth", "erigon", "reth", "besu", "nethermind"]

_GETH = (
    *("address", "topics", "data", "blockNumber", "transactionHash", "transactionIndex"),
    *("blockHash", "blockTimestamp", "logIndex", "removed"),
)
_FIELDS: dict[LogFormatName, tuple[str, ...]] = {
    "geth": _GETH,
    "erigon": (*(name for name in _GETH if name != "blockTimestamp"), "timestamp"),
    "reth": (
        *("address", "topics", "data", "blockHash", "blockNumber", "blockTimestamp"),
        *("transactionHash", "transactionIndex", "logIndex", "removed"),
    ),
    "besu": (
        *("logIndex", "removed", "blockNumber", "blockHash", "blockTimestamp"),
        *("transactionHash", "transactionIndex", "address", "data", "topics"),
    ),
    "nethermind": (
        *("address", "blockHash", "blockNumber", "data", "logIndex", "removed", "topics"),
        *("transactionHash", "transactionIndex", "transactionLogIndex"),
    ),
}
LOG_FORMATS: tuple[LogFormatName, ...] = tuple(_FIELDS)

_OF_BLOCK = {"blockNumber", "blockHash", "blockTimestamp"}
_CONSTANT = {"removed": "false", "timestamp": '"0x0"'}


def tells_times(name: LogFormatName) -> bool:
    """True if logs have the time of their block."""
    return "blockTimestamp" in _FIELDS[name]


def log_template(name: LogFormatName, *, number: int, block_hash: str, time_s: int) -> str:
    """Write the text of a block's logs, with `%(field)s` for their differences, commas behind."""
    known = {"blockNumber": hex(number), "blockHash": block_hash, "blockTimestamp": hex(time_s)}
    parts = []
    for field in _FIELDS[name]:
        if field in _OF_BLOCK:
            value = f'"{known[field]}"'
        elif field == "topics":
            value = "[%(topics)s]"
        else:
            value = _CONSTANT.get(field, f'"%({field})s"')
        parts.append(f'"{field}":{value}')
    return "{" + ",".join(parts) + "},"


def shown_address(name: LogFormatName, address: Address) -> str:
    """As this client writes it: Besu with the checksum of EIP-55 in its letters' case."""
    return _in_mixed_case(address) if name == "besu" else address


_in_mixed_case = lru_cache(maxsize=1 << 17)(checksum)
"""Cache of more addresses than the product remembers, as pools are many."""
