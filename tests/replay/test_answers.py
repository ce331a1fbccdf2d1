"""A replay node answers like a slow and plain one, which keeps all logs as dicts."""

import http.client
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evm.primitives import checksum
from tests.harness.replay.answers import (
    NodeAnswers,
    RpcCall,
    RpcRefusalError,
    prepare_node,
    replay_blocks,
)
from tests.harness.replay.block_maker import BlockMaker, ReplayBlock, ReplaySpec
from tests.harness.replay.block_spool import BlockSpool
from tests.harness.replay.chain_events import APPROVAL, TRANSFER, encode_event
from tests.harness.replay.faults import Fault, Refusal
from tests.harness.replay.http_server import ReplayServer
from tests.harness.replay.log_formats import LOG_FORMATS, LogFormatName
from tests.harness.replay.small_chains import small

FIRST = small().first_block
BLOCKS = list(replay_blocks(BlockMaker(small())))
LAST = BLOCKS[-1].number
EMITTERS = sorted({encode_event(event).address for block in BLOCKS for event in block.events})
TOPICS = sorted(
    {topic for block in BLOCKS for event in block.events for topic in encode_event(event).topics}
)


class PlainLogs:
    """All logs of a chain as dicts, looked through one by one."""

    def __init__(self, spec: ReplaySpec) -> None:
        self._format = spec.log_format
        self.logs = [log for block in BLOCKS for log in self._logs_of(block)]

    def find(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the logs of a filter, by the words of the JSON-RPC specification."""
        return [log for log in self.logs if self._is_wanted(log, query)]

    def _is_wanted(self, log: dict[str, Any], query: dict[str, Any]) -> bool:
        number = int(log["blockNumber"], 16)
        if "blockHash" in query:
            if log["blockHash"] != query["blockHash"]:
                return False
        elif not int(query["fromBlock"], 16) <= number <= int(query["toBlock"], 16):
            return False
        address = query.get("address")
        if address:
            wanted = [address] if isinstance(address, str) else address
            if log["address"].lower() not in [one.lower() for one in wanted]:
                return False
        for at, topic in enumerate(query.get("topics", [])):
            if at >= len(log["topics"]):
                return False
            choices = [topic] if isinstance(topic, str) else topic
            if choices and log["topics"][at] not in choices:
                return False
        return True

    def _logs_of(self, block: ReplayBlock) -> Iterator[dict[str, Any]]:
        first_of: dict[int, int] = {}
        for at, event in enumerate(block.events):
            log, transaction = encode_event(event), block.transactions[at]
            first_of.setdefault(transaction, at)
            plain_log = {
                "address": checksum(log.address) if self._format == "besu" else log.address,
                "topics": list(log.topics),
                "data": log.data,
                "blockNumber": hex(block.number),
                "blockHash": block.hash,
                "transactionHash": block.transaction_hash(transaction),
                "transactionIndex": hex(transaction),
                "logIndex": hex(at),
                "removed": False,
            }
            if self._format in ("geth", "reth", "besu"):
                plain_log["blockTimestamp"] = hex(block.time_s)
            if self._format == "erigon":
                plain_log["timestamp"] = "0x0"
            if self._format == "nethermind":
                plain_log["transactionLogIndex"] = hex(at - first_of[transaction])
            yield plain_log


@pytest.fixture(scope="module")
def nodes() -> Iterator[dict[LogFormatName, NodeAnswers]]:
    with BlockSpool() as spool:
        yield {
            name: prepare_node(BlockMaker(small(log_format=name)), spool) for name in LOG_FORMATS
        }


PLAIN = {name: PlainLogs(small(log_format=name)) for name in LOG_FORMATS}

heights = st.integers(FIRST - 3, LAST)
topic_choices = (
    st.none()
    | st.sampled_from([TRANSFER, APPROVAL])
    | st.lists(st.sampled_from(TOPICS), max_size=300)
)
places = st.fixed_dictionaries({"blockHash": st.sampled_from([block.hash for block in BLOCKS])}) | (
    st.tuples(heights, heights).map(
        lambda ends: {"fromBlock": hex(min(ends)), "toBlock": hex(max(ends))}
    )
)
queries = st.builds(
    lambda place, rest: place | rest,
    places,
    st.fixed_dictionaries(
        {},
        optional={
            "topics": st.lists(topic_choices, max_size=3),
            "address": st.sampled_from(EMITTERS) | st.lists(st.sampled_from(EMITTERS), max_size=4),
        },
    ),
)


def ask(node: NodeAnswers, method: str, *params: object) -> Any:
    return msgspec.json.decode(b"".join(node.result(RpcCall(method, list(params)))))


@given(query=queries, name=st.sampled_from(LOG_FORMATS))
def test_logs_are_those_of_the_plain_model(
    nodes: dict[LogFormatName, NodeAnswers], query: dict[str, Any], name: LogFormatName
) -> None:
    assert ask(nodes[name], "eth_getLogs", query) == PLAIN[name].find(query)


def test_each_client_has_its_own_order_of_fields(
    nodes: dict[LogFormatName, NodeAnswers],
) -> None:
    query = {"fromBlock": hex(FIRST), "toBlock": hex(FIRST)}
    orders = {name: list(ask(nodes[name], "eth_getLogs", query)[0]) for name in LOG_FORMATS}
    assert orders["nethermind"] == sorted(orders["nethermind"])
    assert orders["besu"][:2] == ["logIndex", "removed"]
    assert orders["geth"][3] == "blockNumber"
    assert orders["reth"][3] == "blockHash"
    assert len({tuple(order) for order in orders.values()}) == len(LOG_FORMATS)


def test_receipts_hold_all_logs_of_their_block(nodes: dict[LogFormatName, NodeAnswers]) -> None:
    for block in BLOCKS[::10]:
        by_number, by_hash = (
            ask(nodes["geth"], "eth_getBlockReceipts", name)
            for name in (hex(block.number), block.hash)
        )
        assert by_number == by_hash
        assert [log for receipt in by_hash for log in receipt["logs"]] == PLAIN["geth"].find(
            {"blockHash": block.hash}
        )
        for at, receipt in enumerate(by_hash):
            assert {int(log["transactionIndex"], 16) for log in receipt["logs"]} == {at}
            assert {log["transactionHash"] for log in receipt["logs"]} == {
                receipt["transactionHash"]
            }


def test_blocks_are_known_by_height_and_hash(nodes: dict[LogFormatName, NodeAnswers]) -> None:
    node = nodes["geth"]
    assert ask(node, "eth_blockNumber") == hex(LAST)
    for block in BLOCKS:
        found = ask(node, "eth_getBlockByNumber", hex(block.number), False)
        assert found == ask(node, "eth_getBlockByHash", block.hash, False)
        assert (found["hash"], found["parentHash"]) == (block.hash, block.parent_hash)
    assert ask(node, "eth_getBlockByNumber", "latest", False)["hash"] == BLOCKS[-1].hash
    for missing in (hex(FIRST - 1), hex(LAST + 1)):
        assert ask(node, "eth_getBlockByNumber", missing, False) is None


def test_contracts_have_code_and_wallets_have_none(
    nodes: dict[LogFormatName, NodeAnswers],
) -> None:
    people = BlockMaker(small()).people
    node = nodes["geth"]
    assert ask(node, "eth_getCode", people.tokens[0].address, "latest") != "0x"
    assert ask(node, "eth_getCode", people.tokens[0].address, hex(FIRST - 1)) == "0x"
    assert ask(node, "eth_getCode", people.wallets[0], "latest") == "0x"


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("eth_nothing", [], -32601),
        ("eth_getLogs", [], -32602),
        ("eth_getLogs", [{"fromBlock": "ten", "toBlock": "0x1"}], -32602),
        ("eth_getLogs", [{"fromBlock": "0x2", "toBlock": "0x1"}], -32602),
        ("eth_getLogs", [{"blockHash": "0x00"}], -32000),
    ],
)
def test_what_cannot_be_answered_is_an_error_object(
    nodes: dict[LogFormatName, NodeAnswers], method: str, params: list[object], code: int
) -> None:
    with pytest.raises(RpcRefusalError) as refused:
        ask(nodes["geth"], method, *params)
    assert refused.value.code == code


# --- over the wire ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(nodes: dict[LogFormatName, NodeAnswers]) -> Iterator[ReplayServer]:
    with ReplayServer({"/1": nodes["geth"], "/2": nodes["besu"]}) as running:
        yield running


@pytest.fixture
def line(server: ReplayServer) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    yield connection
    connection.close()


def post(line: http.client.HTTPConnection, message: object, path: str = "/1") -> tuple[int, bytes]:
    line.request("POST", path, msgspec.json.encode(message))
    answer = line.getresponse()
    return answer.status, answer.read()


def call(number: int, method: str, *params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_one_connection_carries_single_calls_and_batches(
    line: http.client.HTTPConnection,
) -> None:
    query = {"fromBlock": hex(FIRST), "toBlock": hex(LAST), "topics": [[TRANSFER]]}
    batch = [call(5, "eth_chainId"), call(6, "eth_getLogs", query), call(7, "eth_nothing")]
    paths: dict[str, LogFormatName] = {"/1": "geth", "/2": "besu"}
    for path, name in paths.items():
        status, body = post(line, batch, path)
        answers = msgspec.json.decode(body)
        assert (status, [answer["id"] for answer in answers]) == (200, [5, 6, 7])
        assert answers[1]["result"] == PLAIN[name].find(query)
        assert answers[2]["error"]["code"] == -32601
        single = msgspec.json.decode(post(line, call(8, "eth_blockNumber"), path)[1])
        assert single == {"jsonrpc": "2.0", "id": 8, "result": hex(LAST)}
    assert post(line, call(9, "eth_chainId"), "/3")[0] == 404


def test_faults_happen_as_planned_and_only_then(
    server: ReplayServer, line: http.client.HTTPConnection
) -> None:
    calls = [call(1, "eth_chainId"), call(2, "eth_blockNumber")]
    whole = post(line, calls)[1]
    try:
        server.faults = lambda _: Fault(status=429, headers={"Retry-After": "1"})
        assert post(line, calls) == (429, b"")
        server.faults = lambda _: Fault(refusals={1: Refusal(-32005, "too many")})
        answers = msgspec.json.decode(post(line, calls)[1])
        assert "result" in answers[0]
        assert answers[1]["error"] == {"code": -32005, "message": "too many"}
        server.faults = lambda _: Fault(sent_share=0.5)
        with pytest.raises(http.client.IncompleteRead) as cut:
            post(line, calls)
        assert cut.value.partial == whole[: len(whole) // 2]
        line.close()
        line.timeout = 0.05
        server.faults = lambda _: Fault(delay_s=0.2)
        with pytest.raises(TimeoutError):
            post(line, calls)
    finally:
        server.faults = lambda _: Fault()
    line.close()
    line.timeout = 10
    assert post(line, calls) == (200, whole)
