"""Oddities of nodes and providers, each as reported in public or as in the client's source."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.harness.node.chain import TRANSFER
from tests.harness.node.odd_node import Answer, Call, Oddity, Seen

_LOGS = "eth_getLogs"
_ZERO_BLOOM = "0x" + "0" * 512
_MANY_BLOCKS = 10
"""Blocks beyond which a query for logs is refused."""

Logs = list[dict[str, Any]]


# --- parts of answers -----------------------------------------------------------------------------


def _on_logs(change: Callable[[Call, Logs, Seen], object]) -> Callable[..., Answer]:
    """Change the results of queries for logs, empty ones included."""

    def answer(call: Call, given: Answer, seen: Seen) -> Answer:
        if call["method"] != _LOGS or not isinstance(given.get("result"), list):
            return given
        return given | {"result": change(call, given["result"], seen)}

    return answer


def _each_log(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[..., Answer]:
    return _on_logs(lambda call, logs, seen: [log | change(log) for log in logs])


def _header_fields(changed: Mapping[str, object]) -> Callable[..., Answer]:
    """Set fields of headers; a value of Ellipsis removes the field."""

    def answer(call: Call, given: Answer, seen: Seen) -> Answer:
        del seen
        block = given.get("result")
        if not call["method"].startswith("eth_getBlockBy") or not isinstance(block, dict):
            return given
        fields = {**block, **changed}
        return given | {"result": {key: one for key, one in fields.items() if one is not ...}}

    return answer


def _at_first(times: int, cut: Callable[[Logs], Logs]) -> Callable[..., Answer]:
    """Cut the first answers for each block by its hash."""

    def change(call: Call, logs: Logs, seen: Seen) -> Logs:
        block = call["params"][0].get("blockHash")
        if block is None or not logs:
            return logs
        seen[block] += 1
        return cut(logs) if seen[block] <= times else logs

    return _on_logs(change)


def _half(logs: Logs) -> Logs:
    return logs[: len(logs) // 2] if len(logs) > 1 else logs


def _without_last_transaction(logs: Logs) -> Logs:
    last = logs[-1]["transactionHash"]
    return [log for log in logs if log["transactionHash"] != last] or logs


def _in_ranges(times: int, cut: Callable[[Logs], Logs]) -> Callable[..., Answer]:
    """Cut the first answers to queries by range."""

    def change(call: Call, logs: Logs, seen: Seen) -> Logs:
        if "blockHash" in call["params"][0] or not logs:
            return logs
        seen["ranges"] += 1
        return cut(logs) if seen["ranges"] <= times else logs

    return _on_logs(change)


def _newest_block_first(logs: Logs) -> Logs:
    return sorted(logs, key=lambda log: (-int(log["blockNumber"], 16), int(log["logIndex"], 16)))


def _shuffled(logs: Sequence[Any]) -> list[Any]:
    return random.Random(len(logs)).sample(list(logs), len(logs))  # noqa: S311 - a test's dice


def _upper(text: str) -> str:
    return "0x" + text[2:].upper()


def _refusing(code: object, message: object, **more: object) -> Callable[..., Answer]:
    """Answer long queries for logs with an error."""

    def answer(call: Call, given: Answer, seen: Seen) -> Answer:
        del seen
        query = call["params"][0] if call["method"] == _LOGS else {}
        if "fromBlock" not in query:
            return given
        ends = [query["fromBlock"], query["toBlock"]]
        if "latest" not in ends and int(ends[1], 16) - int(ends[0], 16) < _MANY_BLOCKS:
            return given
        error = {"code": code, "message": message, **more}
        return {"jsonrpc": "2.0", "id": call["id"], "error": error}

    return answer


def _each_answer(change: Callable[[Answer], Answer]) -> Callable[..., Answer]:
    return lambda call, given, seen: change(given)


def _now_and_then(text: str) -> Callable[[str, Seen], str]:
    """Replace every fourth answer."""

    def body(given: str, seen: Seen) -> str:
        seen["bodies"] += 1
        return text if seen["bodies"] % 4 == 2 else given

    return body


def _huge_head_once(call: Call, given: Answer, seen: Seen) -> Answer:
    if call["params"][:1] != ["latest"] or given.get("result") is None:
        return given
    seen["heads"] += 1
    if seen["heads"] % 3 != 1:
        return given
    return given | {"result": given["result"] | {"number": hex(2**256 - 1)}}


# --- the oddities ---------------------------------------------------------------------------------

LATE_LOGS: tuple[Oddity, ...] = (
    Oddity(
        name="half of the logs at first",
        source="fystack/multichain-indexer#114 (BSC)",
        answer=_at_first(1, _half),
    ),
    Oddity(
        name="half of the logs three times",
        source="base/node#487",
        answer=_at_first(3, _half),
    ),
    Oddity(
        name="one log less at first",
        source="filecoin-project/lotus#13758",
        answer=_at_first(1, lambda logs: logs[:-1] or logs),
    ),
    Oddity(
        name="a transaction less at first",
        source="as fystack/multichain-indexer#114",
        answer=_at_first(1, _without_last_transaction),
    ),
    Oddity(
        name="half of the logs by hash for ever",
        source="as base/node#487, by range complete",
        answer=_at_first(10**9, _half),
    ),
    Oddity(
        name="no logs at first",
        source="base/node#487",
        answer=_at_first(1, lambda logs: []),
    ),
    Oddity(
        name="no logs three times",
        source="base/node#487",
        answer=_at_first(3, lambda logs: []),
    ),
)
"""Those that a second read must find."""

_HEADERS: Final = (
    (
        "a bloom filter of zeros",
        "matter-labs/zksync-era; hyperliquid's node",
        {"logsBloom": _ZERO_BLOOM},
    ),
    ("a full bloom filter", "hiero-ledger/hiero-json-rpc-relay", {"logsBloom": "0x" + "f" * 512}),
    ("no bloom filter", "light gateways", {"logsBloom": ...}),
    ("bloom filter is null", "as of pending blocks, execution-apis", {"logsBloom": None}),
    ("an empty bloom filter", "smartbch/smartbch", {"logsBloom": "0x"}),
    ("miner is null", "as of pending blocks, execution-apis", {"miner": None}),
    ("no base fee", "BSC before its London", {"baseFeePerGas": ...}),
    (
        "coreth's headers",
        "ava-labs/coreth",
        {
            "blockExtraData": "0x",
            "blockGasCost": "0x0",
            "extDataGasUsed": "0x0",
            "extDataHash": "0x" + "1" * 64,
            "timestampMilliseconds": "0x19a",
            "withdrawals": ...,
            "withdrawalsRoot": ...,
        },
    ),
    (
        "Nitro's headers",
        "OffchainLabs/nitro",
        {
            "l1BlockNumber": "0x10",
            "sendCount": "0x1",
            "sendRoot": "0x" + "2" * 64,
            "nonce": "0x0000000000000001",
        },
    ),
)
"""Name, source and changed fields."""

FORMS: tuple[Oddity, ...] = (
    Oddity(
        name="newest block first",
        source="NethermindEth/nethermind#5033",
        answer=_on_logs(lambda call, logs, seen: _newest_block_first(logs)),
    ),
    Oddity(
        name="logs backwards",
        source="moonbeam-foundation/moonbeam#1130",
        answer=_on_logs(lambda call, logs, seen: logs[::-1]),
    ),
    Oddity(
        name="logs in any order",
        source="graphprotocol/graph-node#1208",
        answer=_on_logs(lambda call, logs, seen: _shuffled(logs)),
    ),
    Oddity(
        name="null for no logs",
        source="onflow/flow-evm-gateway#695",
        answer=_on_logs(lambda call, logs, seen: logs or None),
    ),
    Oddity(
        name="null for no data",
        source="smartbch/smartbch#67",
        answer=_each_log(lambda log: {"data": None} if log["data"] == "0x" else {}),
    ),
    Oddity(
        name="no text for no data",
        source="hiero-ledger/hiero-json-rpc-relay#699",
        answer=_each_log(lambda log: {"data": ""} if log["data"] == "0x" else {}),
    ),
    Oddity(
        name="removed is null",
        source="caching gateways",
        answer=_each_log(lambda log: {"removed": None}),
    ),
    Oddity(
        name="no transaction in logs",
        source="Nitro, for some system logs",
        answer=_each_log(
            lambda log: (
                {"transactionHash": None, "transactionIndex": None}
                if log["topics"][0] == TRANSFER.topic0
                else {}
            )
        ),
    ),
    Oddity(
        name="padded numbers",
        source="moonbeam-foundation/moonbeam",
        answer=_each_log(
            lambda log: {
                "blockNumber": "0x" + log["blockNumber"][2:].zfill(16),
                "logIndex": "0x" + log["logIndex"][2:].zfill(8),
            }
        ),
    ),
    Oddity(
        name="capital digits",
        source="smartbch/smartbch",
        answer=_each_log(
            lambda log: {
                "address": _upper(log["address"]),
                "data": _upper(log["data"]),
                "topics": [_upper(topic) for topic in log["topics"]],
                "blockHash": _upper(log["blockHash"]),
            }
        ),
    ),
    Oddity(
        name="times in milliseconds",
        source="Sei, Robinhood Chain",
        answer=_each_log(lambda log: {"blockTimestamp": "0x19a5e0f5d80"}),
    ),
    *(
        Oddity(name=name, source=source, answer=_header_fields(changed))
        for name, source, changed in _HEADERS
    ),
    Oddity(
        name="a head of 2^256 - 1 now and then",
        source="a node that is out of sync",
        answer=_huge_head_once,
    ),
)
"""Other forms of the same content, and content that is void."""

MESSAGES: tuple[Oddity, ...] = (
    Oddity(
        name="batches are refused",
        source="smartbch/smartbch; Cloudflare",
        message=lambda calls, answers, seen: {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32600, "message": "batch requests are not supported"},
        },
    ),
    Oddity(
        name="an empty list for a batch",
        source="hyperledger/besu, behind a gateway",
        message=lambda calls, answers, seen: [],
    ),
    Oddity(
        name="one answer of a batch is missing",
        source="ethereum/go-ethereum#27353",
        message=lambda calls, answers, seen: answers[:-1] if len(answers) > 1 else answers,
    ),
    Oddity(
        name="answers in any order",
        source="JSON-RPC 2.0, section 6",
        message=lambda calls, answers, seen: _shuffled(answers),
    ),
    Oddity(
        name="ids as text",
        source="gateways in JavaScript",
        answer=_each_answer(lambda one: one | {"id": str(one["id"])}),
    ),
    Oddity(
        name="ids with a fraction",
        source="gateways in Lua",
        answer=_each_answer(lambda one: one | {"id": float(one["id"])}),
    ),
    Oddity(
        name="error is null beside a result",
        source="JSON-RPC 1.0",
        answer=_each_answer(lambda one: {"error": None, **one}),
    ),
    Oddity(
        name="no version",
        source="JSON-RPC 1.0",
        answer=_each_answer(lambda one: {key: one[key] for key in one if key != "jsonrpc"}),
    ),
    Oddity(
        name="blanks around",
        source="gateways in PHP",
        body=lambda text, seen: f"\r\n {text} \r\n\r\n",
    ),
    Oddity(
        name="a page now and then",
        source="Cloudflare",
        body=_now_and_then("<!DOCTYPE html><title>Just a moment...</title>"),
    ),
    Oddity(
        name="a limit now and then without JSON-RPC",
        source="thirdweb",
        body=_now_and_then('{"error":"Too many requests","retry_after":1}'),
    ),
    Oddity(
        name="a limit now and then as an unknown object",
        source="Moralis",
        body=_now_and_then('{"status":429,"message":"You are being rate limited"}'),
    ),
    Oddity(name="status 500", source="hyperledger/besu#3467", status=500),
    Oddity(name="status 202", source="gateways", status=202),
    Oddity(name="plain text", source="gateways", headers={"Content-Type": "text/plain"}),
)
"""Messages around the answers."""

REFUSALS: tuple[Oddity, ...] = tuple(
    Oddity(name=f"refuses with {name}", source=source, answer=_refusing(code, message, **more))
    for name, source, code, message, more in (
        (
            "Nethermind's timeout",
            "NethermindEth/nethermind#8860",
            -32016,
            "eth_getLogs request was canceled due to enabled timeout.",
            {},
        ),
        ("Geth's timeout", "ponder-sh/ponder#2386", -32002, "request timed out", {}),
        ("Ankr's refusal", "circlefin/arc-node#83", -32046, "Cannot fulfill request", {}),
        ("Erigon's timeout", "erigontech/erigon", -32000, "context deadline exceeded", {}),
        ("Besu's timeout", "hyperledger/besu", -32603, "Timeout expired", {}),
        ("Reth's timeout", "paradigmxyz/reth", -32603, "request timed out after 30s", {}),
        ("dRPC's timeout", "enviodev/hyperindex#715", 30, "Request timeout on the free tier", {}),
        ("coreth's timeout", "ava-labs/coreth", -32000, "execution aborted (timeout = 5s)", {}),
        ("an unknown error", "any", -32603, "Internal error", {}),
        ("a code as text", "gateways", "-32099", "no capacity for this", {}),
        ("a message that is null", "gateways", -32603, None, {}),
        ("data", "OpenEthereum", -32000, "failed", {"data": {"reason": "too heavy"}}),
    )
)
"""Errors in answer to queries for the logs of more than ten blocks."""

ODDITIES = (*LATE_LOGS, *FORMS, *MESSAGES, *REFUSALS)

DISGUISES = tuple(
    one
    for one in FORMS
    if not any(word in one.name for word in ("bloom", "transaction", "times", "2^256"))
)
"""Other forms of the same content, none of which lacks anything."""
