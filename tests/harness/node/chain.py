"""A node in memory: blocks in a tree, one branch canonical, JSON-RPC answers as bytes.

A second implementation of the wire. It can lie and fail on purpose.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from eth_utils.crypto import keccak

from config.facts.chain import Anchor, Chain, Dex, Oracle
from config.settings import RpcSettings
from core.errors import UpstreamError
from core.evm.primitives import ZERO_ADDRESS, Address
from core.rpc.client import RpcClient
from core.rpc.endpoint import Endpoint
from tests.harness.indexer.wire_logs import encode_log, parse_event, wire_log
from tests.harness.node.serve import encode_all

Log = dict[str, Any]
Lie = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]

PAIR_CREATED = parse_event(
    "event PairCreated(address indexed token0, address indexed token1, "
    "address pair, uint256 allPairsLength)"
)
POOL_CREATED = parse_event(
    "event PoolCreated(address indexed token0, address indexed token1, "
    "uint24 indexed fee, int24 tickSpacing, address pool)"
)
TRANSFER = parse_event("event Transfer(address indexed from, address indexed to, uint256 value)")
MINT = parse_event(
    "event Mint(address sender, address indexed owner, int24 indexed tickLower, "
    "int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)"
)


def address(name: str) -> Address:
    """An address that belongs to a name."""
    return Address("0x" + keccak(text=name)[:20].hex())


FACTORY_V2 = address("factory v2")
FACTORY_V3 = address("factory v3")
NATIVE = address("native")
TOKENS = [address(f"token {number}") for number in range(4)]

CHAIN = Chain(
    id=1,
    slug="ethereum",
    display_name="A chain in memory",
    block_time_s=1,
    clock="own",
    native_symbol="ETH",
    finality_blocks=12,
    start_block=0,
    wrapped_native=Anchor(address=NATIVE, symbol="WETH", decimals=18),
    stables=(
        Anchor(address=address("stable 0"), symbol="USDA", decimals=6),
        Anchor(address=address("stable 1"), symbol="USDB", decimals=18),
    ),
    oracle=Oracle(native_usd=address("oracle"), decimals=8, heartbeat_s=3600),
    dexes=(
        Dex(name="Two", kind="AmmV2", factory=FACTORY_V2),
        Dex(name="Three", kind="AmmV3", factory=FACTORY_V3),
    ),
    launchpads=(),
)


class Pair(msgspec.Struct, frozen=True):
    """A V2 pair of two tokens (numbers into TOKENS; -1 the native coin) is created."""

    one: int
    other: int


class Pool(msgspec.Struct, frozen=True):
    """As Pair, in V3."""

    one: int
    other: int


class Sent(msgspec.Struct, frozen=True):
    """A token is transferred."""

    token: int
    amount: int


class Minted(msgspec.Struct, frozen=True):
    """Tokens come from nobody."""

    token: int
    amount: int


class Odd(msgspec.Struct, frozen=True):
    """A token sends a Transfer event of another shape."""

    token: int


class LpSent(msgspec.Struct, frozen=True):
    """Transfer of LP tokens, or a log that looks like one where there is no pair."""

    of: Pair | Pool
    amount: int


class PositionMinted(msgspec.Struct, frozen=True):
    """Creation of a position, or a log that looks like one where there is no V3 pool."""

    of: Pair | Pool
    amount: int


Event = Pair | Pool | Sent | Minted | Odd | LpSent | PositionMinted


class Block(msgspec.Struct, frozen=True):
    number: int
    hash: str
    parent_hash: str
    events: tuple[Event, ...]
    logs: list[Log]


def token(number: int) -> Address:
    """The token of a number; -1 is the native coin."""
    return NATIVE if number < 0 else TOKENS[number]


def pool_address(event: Pair | Pool) -> Address:
    """Return the address of the pool of two tokens, equal on every branch as with CREATE2."""
    return address(f"{type(event).__name__} {event.one} {event.other}")


def _log_of(event: Event, **place: Any) -> Log:
    values: dict[str, object]
    match event:
        case Pair(one, other):
            values = {"token0": token(one), "token1": token(other), "allPairsLength": 1}
            form, emitter = PAIR_CREATED, FACTORY_V2
            values["pair"] = pool_address(event)
        case Pool(one, other):
            values = {"token0": token(one), "token1": token(other), "fee": 3000}
            values |= {"tickSpacing": -60, "pool": pool_address(event)}
            form, emitter = POOL_CREATED, FACTORY_V3
        case Sent(number, amount):
            values = {"from": address("sender"), "to": address(f"recipient {amount % 3}")}
            form, emitter = TRANSFER, token(number)
            values["value"] = amount
        case Minted(number, amount):
            values = {"from": ZERO_ADDRESS, "to": address("minter"), "value": amount}
            form, emitter = TRANSFER, token(number)
        case LpSent(pool, amount):
            values = {"from": ZERO_ADDRESS, "to": address(f"provider {amount % 3}")}
            form, emitter = TRANSFER, pool_address(pool)
            values["value"] = amount
        case PositionMinted(pool, amount):
            values = {"sender": address("manager"), "owner": address("manager")}
            values |= {"tickLower": -(amount % 1000), "tickUpper": 1000, "amount": amount}
            values |= {"amount0": amount, "amount1": 2 * amount}
            form, emitter = MINT, pool_address(pool)
        case _:
            where = token(event.token)
            return wire_log(address=where, topics=[TRANSFER.topic0], data="0x", **place)
    return encode_log(form, values, address=emitter, **place)


def make_block(parent: Block | None, events: Sequence[Event], salt: str) -> Block:
    """A child with these events as its logs. Branches differ by salt."""
    number = 0 if parent is None else parent.number + 1
    parent_hash = "0x" + "00" * 32 if parent is None else parent.hash
    own_hash = "0x" + keccak(text=f"{parent_hash} {salt} {events}").hex()
    place = {"block_number": number, "block_hash": own_hash}
    logs = [_log_of(event, log_index=at, **place) for at, event in enumerate(events)]
    return Block(number, own_hash, parent_hash, tuple(events), logs)


def bloom_of(logs: Sequence[Log]) -> int:
    """Source: the Yellow Paper, section 4.4.3."""
    bloom = 0
    for log in logs:
        for item in (log["address"], *log["topics"]):
            digest = keccak(hexstr=item)
            for high, low in ((0, 1), (2, 3), (4, 5)):
                bloom |= 1 << ((digest[high] * 256 + digest[low]) & 0x7FF)
    return bloom


class ScriptedNode:
    """Answers for the branch that is canonical at the time."""

    service = "scripted:1"

    def __init__(self, *, chain_id: int = 1) -> None:
        self.chain_id = chain_id
        self.canonical: list[Block] = [make_block(None, (), "genesis")]
        self.salts = (str(number) for number in itertools.count())
        self.by_hash: dict[str, Block] = {}
        self.lies: list[Lie] = []
        self.is_dead = False
        self.requests: list[str] = []
        self.max_range = 1_000_000
        self.refusal = "block range is too wide"
        self.ranges: list[tuple[int, int]] = []
        self.log_filters: list[set[str]] = []
        """Topics of each question for logs."""
        self.needs_address: str | None = None
        """The refusal of questions for the logs of all contracts. None: they are answered."""
        self.oldest_logs = 0
        self.keeps_states = True
        self.says_no_code = False
        self.log_time: Callable[[Block], object] = block_time
        """Time of the block in its logs."""
        self.highest = 0
        """Highest of all heads so far."""
        self._remember()

    @property
    def head(self) -> Block:
        return self.canonical[-1]

    def extend(self, events: Sequence[Event]) -> None:
        """Mine one block."""
        self.canonical.append(make_block(self.head, events, next(self.salts)))
        self._remember()

    def reorg(self, depth: int, branch: Sequence[Sequence[Event]]) -> None:
        """Replace the newest blocks by others, fewer or more, as far as they are not final."""
        kept = max(1, len(self.canonical) - depth, self.highest - CHAIN.finality_blocks + 1)
        del self.canonical[kept:]
        for events in branch:
            self.extend(events)

    async def exchange(self, body: bytes, *, ids: range) -> bytes:
        """The wire."""
        del ids
        if self.is_dead:
            raise UpstreamError(service=self.service, reason="is dead")
        message = msgspec.json.decode(body)
        calls = message if isinstance(message, list) else [message]
        answers = [
            {"jsonrpc": "2.0", "id": call["id"]}
            | (self._refusal(call) or {"result": self._answer(call)})
            for call in calls
        ]
        if self.lies and calls[0]["method"] != "eth_chainId":
            answers = self.lies.pop(0)(answers)
        return encode_all(answers).encode()

    async def aclose(self) -> None:
        """Nothing to close."""

    def _refusal(self, call: dict[str, Any]) -> dict[str, Any] | None:
        """Return the error for a request beyond the node's memory or limits."""
        if call["method"] == "eth_getCode" and not self.keeps_states:
            return {"error": {"code": -32000, "message": "missing trie node"}}
        return self._refused_query(call["params"][0]) if call["method"] == "eth_getLogs" else None

    def _refused_query(self, query: dict[str, Any]) -> dict[str, Any] | None:
        if self.needs_address is not None and "address" not in query:
            self.requests.append("refused")
            return {"error": {"code": -32701, "message": self.needs_address}}
        if "fromBlock" not in query:
            return None
        first, last = int(query["fromBlock"], 16), int(query["toBlock"], 16)
        self.ranges.append((first, last))
        if first < self.oldest_logs:
            return {"error": {"code": 4444, "message": "pruned history unavailable"}}
        if last - first < self.max_range:
            return None
        message = self.refusal.format(first=hex(first), last=hex(first + self.max_range - 1))
        return {"error": {"code": -32602, "message": message}}

    def _answer(self, call: dict[str, Any]) -> object:
        method, params = call["method"], call["params"]
        self.requests.append(method)
        match method:
            case "eth_chainId":
                return hex(self.chain_id)
            case "eth_getBlockByNumber":
                return self._block(params[0])
            case "eth_getLogs":
                return self._logs(params[0])
            case "eth_getBlockReceipts":
                return self._receipts(self.by_hash.get(params[0]))
            case "eth_getCode":
                return self._code(params[0], int(params[1], 16))
        raise AssertionError(method)

    def _block(self, name: str) -> object:
        number = len(self.canonical) - 1 if name == "latest" else int(name, 16)
        if number >= len(self.canonical):
            return None
        block = self.canonical[number]
        return {
            "number": hex(block.number),
            "hash": block.hash,
            "parentHash": block.parent_hash,
            "timestamp": block_time(block),
            "logsBloom": f"0x{bloom_of(block.logs):0512x}",
            "miner": ZERO_ADDRESS,
            "transactions": [],
        }

    def _logs(self, query: dict[str, Any]) -> list[Log]:
        if "blockHash" in query:
            blocks = [self.by_hash[query["blockHash"]]]
        else:
            first, last = int(query["fromBlock"], 16), int(query["toBlock"], 16)
            blocks = self.canonical[first : last + 1]
        topics = set(query["topics"][0])
        self.log_filters.append(topics)
        return [
            log | {"blockTimestamp": self.log_time(block)}
            for block in blocks
            for log in block.logs
            if log["topics"][0] in topics and query.get("address", log["address"]) == log["address"]
        ]

    def _receipts(self, block: Block | None) -> list[dict[str, Any]] | None:
        """A transaction for every two logs, and one without any."""
        if block is None:
            return None
        parts = [block.logs[at : at + 2] for at in range(0, len(block.logs), 2)]
        return [{"blockHash": block.hash, "status": "0x1", "logs": logs} for logs in ([], *parts)]

    def _code(self, contract: str, height: int) -> str:
        """There is some from the contract's first log on."""
        logs = (log for block in self.canonical[: height + 1] for log in block.logs)
        is_there = any(log["address"] == contract for log in logs)
        return "0x60" if is_there and not self.says_no_code else "0x"

    def _remember(self) -> None:
        self.highest = max(self.highest, self.head.number)
        self.by_hash |= {block.hash: block for block in self.canonical}


def block_time(block: Block) -> str:
    """Return the time in the header."""
    return hex(1_700_000_000 + block.number)


class InstantClock:
    """Waits take no time; the clock counts them."""

    def __init__(self) -> None:
        self.time_s = 0.0

    def now_s(self) -> float:
        return self.time_s

    async def sleep(self, seconds: float) -> None:
        self.time_s += seconds


def client_of(*nodes: ScriptedNode) -> RpcClient:
    """A client whose wire ends in these nodes."""
    return RpcClient(
        [Endpoint(node, max_batch=100) for node in nodes],
        chain_id=1,
        settings=RpcSettings(),
        clock=InstantClock(),
    )
