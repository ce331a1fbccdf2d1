"""Protects the reaction to errors of nodes and providers, in the words in which they were seen.

Each row of node_errors.toml is sent by a local server, and read by the real client."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

from analysis.reads.eth_reads import NoAnswer, read_reply
from analysis.simulation.backends import is_unknown_method
from core.errors import UpstreamError
from core.rpc.client import RpcClient
from core.rpc.failures import RangeRefusedError, RateLimitedError
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from indexer.log_reader import LogReader
from tests.harness.node.serve import SETTINGS, Node, Reply, encode, encode_all, good, running
from tests.harness.rpc.clients import client_of

FIRST, LAST = 1_000, 100_999
_HASH = "0x" + "11" * 32


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One error: a JSON-RPC error object, or a whole `body`."""

    node: str
    source: str
    code: int = 0
    message: str = ""
    data: Any = None
    status: int = 200
    body: str | None = None
    blocks: int | None = None
    reason: str = ""

    @property
    def error(self) -> dict[str, object]:
        data = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": self.message, **data}


def rows(reaction: str) -> list[Any]:
    """As parameters of a test: method and row."""
    table = tomllib.loads(Path(__file__).with_name("node_errors.toml").read_text())
    found = msgspec.convert(table, dict[str, dict[str, list[Row]]])
    return [
        pytest.param(method, row, id=f"{row.node} {row.source} {at}".replace(" ", "_"))
        for method, listed in found[reaction].items()
        for at, row in enumerate(listed)
    ]


def header(number: int) -> dict[str, object]:
    """A block's header as far as it is read."""
    return {
        "number": hex(number),
        "hash": _HASH,
        "parentHash": _HASH,
        "timestamp": hex(number),
        "logsBloom": "0x" + "00" * 256,
        "miner": "0x" + "22" * 20,
        "gasLimit": "0x1",
        "baseFeePerGas": "0x1",
        "mixHash": _HASH,
    }


def answer_to(row: Row, call: dict[str, Any]) -> dict[str, object]:
    """The error, but for questions for a block."""
    if call["method"] == "eth_getBlockByNumber":
        return {"jsonrpc": "2.0", "id": call["id"], "result": header(int(call["params"][0], 16))}
    return {"jsonrpc": "2.0", "id": call["id"], "error": row.error}


def says(row: Row) -> Reply:
    """Each call of a message is answered with the error; a `body` is the whole answer."""

    async def reply(_: Node, calls: list[dict[str, Any]]) -> web.StreamResponse:
        body = row.body or encode_all([answer_to(row, call) for call in calls])
        return web.Response(status=row.status, text=body)

    return reply


def refuses_batches(row: Row, *, most: int) -> Reply:
    """One error object, or a `body`, for a message of more calls."""

    async def reply(node: Node, calls: list[dict[str, Any]]) -> web.StreamResponse:
        if len(calls) <= most:
            return good(node, calls)
        body = row.body or encode({"jsonrpc": "2.0", "id": None, "error": row.error})
        return web.Response(status=row.status, text=body)

    return reply


async def ask_once(client: RpcClient, method: str) -> RpcAnswer:
    (answer,) = await client.ask([RpcRequest(method, ("asked",))], list)
    return answer


def as_text(answers: Sequence[RpcAnswer]) -> list[str]:
    assert not any(isinstance(answer, RpcFault) for answer in answers), answers
    return [msgspec.json.decode(answer, type=str) for answer in answers]  # type: ignore[arg-type]


def test_the_table_is_wide() -> None:
    """The issue requires sixty wordings over these."""
    table = tomllib.loads(Path(__file__).with_name("node_errors.toml").read_text())
    found = [
        {**row, "method": method}
        for methods in table.values()
        for method, listed in methods.items()
        for row in listed
    ]
    nodes = " ".join(row["node"] for row in found)
    wanted = "Geth Erigon Nethermind Besu Reth Nitro OP BSC Infura Alchemy QuickNode Ankr dRPC"
    assert len(found) >= 60
    assert [name for name in (*wanted.split(), "Chainstack") if name not in nodes] == []
    assert len({encode(row) for row in found}) == len(found)


@pytest.mark.parametrize(("method", "row"), rows("range"))
async def test_fewer_blocks_are_asked_for(method: str, row: Row) -> None:
    node = Node()
    node.always = says(row)
    async with running(node), client_of(node) as client:
        with pytest.raises(RangeRefusedError) as refusal:
            await LogReader(client).fetch_range(FIRST, LAST)
    assert node.calls.count(method) == 1
    suggested = refusal.value.suggested
    assert (suggested and suggested[1] - FIRST + 1) == row.blocks


@pytest.mark.parametrize(("method", "row"), [*rows("wait"), *rows("retry")])
async def test_it_is_asked_again(method: str, row: Row) -> None:
    node = Node()
    node.misbehaviour = [says(row)]
    async with running(node), client_of(node) as client:
        assert as_text([await ask_once(client, method)]) == ["asked"]
    assert node.calls == [method, method]


async def test_a_limit_on_every_query_for_logs_is_an_answer() -> None:
    """As of BSC's public nodes. The same words for another method stay a limit."""
    words = Row(node="BSC", source="bnb-chain/bsc#1215", code=-32005, message="limit exceeded")
    node = Node()
    node.always = says(words)
    headers_and_logs = [
        RpcRequest("eth_getBlockByNumber", (hex(FIRST), False)),
        RpcRequest("eth_getLogs", ({},)),
    ]
    async with running(node), client_of(node) as client:
        block, logs = await client.batch(headers_and_logs)
        assert not isinstance(block, RpcFault)
        assert logs == RpcFault(code=words.code, message=words.message)
        assert node.calls.count("eth_getLogs") == SETTINGS.attempts
        with pytest.raises(RateLimitedError):
            await client.batch([*headers_and_logs, RpcRequest("eth_call")])


@pytest.mark.parametrize(("method", "row"), rows("batch"))
async def test_messages_become_shorter(method: str, row: Row) -> None:
    node = Node()
    node.always = refuses_batches(row, most=3)
    words = [str(number) for number in range(8)]
    async with running(node), client_of(node) as client:
        answers = await client.batch([RpcRequest(method, (word,)) for word in words])
        assert as_text(answers) == words
        node.messages.clear()
        await client.batch([RpcRequest(method, (word,)) for word in words])
    assert max(map(len, node.messages)) <= 3


@pytest.mark.parametrize(("method", "row"), rows("contract"))
async def test_it_is_the_contracts_answer(method: str, row: Row) -> None:
    node = Node()
    node.always = says(row)
    async with running(node), client_of(node) as client:
        reply = read_reply(await ask_once(client, method))
    assert node.calls == [method]
    assert isinstance(reply, NoAnswer)
    assert row.reason in reply.reason


@pytest.mark.parametrize(("method", "row"), rows("node"))
async def test_nothing_is_said_of_the_contract(method: str, row: Row) -> None:
    node = Node()
    node.always = says(row)
    async with running(node), client_of(node) as client:
        answer = await ask_once(client, method)
    assert not is_unknown_method(answer)
    with pytest.raises(UpstreamError) as failure:
        read_reply(answer)
    assert row.message[:60] in str(failure.value)


@pytest.mark.parametrize(("method", "row"), rows("method"))
async def test_the_method_is_missed(method: str, row: Row) -> None:
    node = Node()
    node.always = says(row)
    async with running(node), client_of(node) as client:
        assert is_unknown_method(await ask_once(client, method))
