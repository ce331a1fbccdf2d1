"""Cost of decoding transfers: by learned layouts, in general columns, and log by log.

A run decodes LOGS logs, so a log takes a thousandth of the printed time.
"""

import msgspec
from eth_abi.abi import decode, encode
from pytest_benchmark.fixture import BenchmarkFixture

from core.evm.abi import topic_of
from indexer.decode.log_answers import LogDecoder
from indexer.decode.logs import decode_logs
from indexer.decode.transfer_events import decode_transfers

LOGS = 1_000
TOKEN = "0x" + "aa" * 20
TRANSFER = topic_of("Transfer(address,address,uint256)")


class _Log(msgspec.Struct):
    topics: tuple[str, ...]
    data: str


def answer_of(count: int) -> msgspec.Raw:
    """Build an answer of `eth_getLogs` with `count` transfers, ten in each block."""
    logs = [
        {
            "address": TOKEN,
            "topics": [TRANSFER, f"0x{at % 7 + 1:064x}", f"0x{2**100 + at:064x}"],
            "data": "0x" + encode(["uint256"], [10**18 + at]).hex(),
            "blockNumber": hex(at // 10),
            "blockHash": f"0x{at // 10:064x}",
            "logIndex": hex(at % 10),
            "transactionHash": f"0x{at:064x}",
            "transactionIndex": hex(at % 10),
            "removed": False,
        }
        for at in range(count)
    ]
    return msgspec.Raw(msgspec.json.encode(logs))


def by_column(answer: msgspec.Raw) -> int:
    """As the indexer does it with small answers, and with logs that no layout fits."""
    return len(decode_transfers(decode_logs(answer)).transfers)


def by_layout(decoder: LogDecoder, answer: msgspec.Raw) -> int:
    """As the indexer does it with large answers, once it has seen some."""
    return len(decode_transfers(decoder.decode(answer)).transfers)


def by_row(answer: msgspec.Raw) -> int:
    """As a loop over logs with a general ABI decoder does it."""
    rows = [
        (
            log.topics[1][-40:],
            log.topics[2][-40:],
            *decode(["uint256"], bytes.fromhex(log.data[2:])),
        )
        for log in msgspec.json.decode(answer, type=list[_Log])
    ]
    return len(rows)


def test_decode_by_layouts(benchmark: BenchmarkFixture) -> None:
    assert benchmark(by_layout, LogDecoder(), answer_of(LOGS)) == LOGS


def test_decode_in_columns(benchmark: BenchmarkFixture) -> None:
    assert benchmark(by_column, answer_of(LOGS)) == LOGS


def test_decode_log_by_log(benchmark: BenchmarkFixture) -> None:
    assert benchmark(by_row, answer_of(LOGS)) == LOGS
