"""A replayed chain as a node's answers to JSON-RPC calls, read from the spool."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import msgspec

from core.evm.primitives import Hash32
from tests.harness.replay.block_encoding import encode_block
from tests.harness.replay.block_maker import BlockMaker, ReplayBlock
from tests.harness.replay.block_spool import BlockSpool, Buffers, LogFilter, SpooledBlock

_INVALID_PARAMS = -32602
_NOT_FOUND = -32601
_SERVER = -32000
_FULL_WORD = "0x" + "0" * 64
_SOME_CODE = "0x6080604052"
_TAGS = frozenset({"latest", "pending", "safe", "finalized"})


class RpcRefusalError(Exception):
    """A call is answered with an error object."""

    def __init__(self, code: int, message: str, data: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        """Revert data as 0x hex. None: there is none."""


class RpcCall(msgspec.Struct, frozen=True):
    """One call of a message."""

    method: str
    params: list[Any] = []
    id: msgspec.Raw = msgspec.Raw(b"null")


class Blocks(Protocol):
    """The chain as a node knows it now."""

    chain_id: int
    spool: BlockSpool

    @property
    def head(self) -> int:
        """Number of the newest block."""
        ...

    def at(self, number: int) -> SpooledBlock | None:
        """The canonical block at a height. None: there is none."""
        ...

    def by_hash(self, block_hash: str) -> SpooledBlock | None:
        """A block of any branch. None: unknown."""
        ...

    def has_code(self, address: str, number: int) -> bool:
        """True if the address is a contract at a height."""
        ...


class Query(msgspec.Struct, rename="camel"):
    """The filter of eth_getLogs. Numbers are hex or tags."""

    from_block: str = "latest"
    to_block: str = "latest"
    block_hash: str | None = None
    address: str | list[str] | None = None
    topics: list[str | list[str] | None] = []


class CallAnswers(Protocol):
    """Answers to calls of a node."""

    def result(self, call: RpcCall) -> Buffers:
        """The result of a call. Raises RpcRefusalError where a node answers with an error."""
        ...


class _LogTopics(msgspec.Struct):
    topics: list[str]


class NodeAnswers:
    """Results of calls, as chunks of JSON that are parts of the spool where they are long."""

    def __init__(self, chain: Blocks) -> None:
        self._chain = chain
        self._methods: dict[str, Callable[[list[Any]], Buffers]] = {
            "eth_chainId": lambda _: _json(hex(chain.chain_id)),
            "net_version": lambda _: _json(str(chain.chain_id)),
            "web3_clientVersion": lambda _: _json("assay-replay"),
            "eth_blockNumber": lambda _: _json(hex(chain.head)),
            "eth_getBlockByNumber": lambda params: _header(self._numbered(str(params[0]))),
            "eth_getBlockByHash": lambda params: _header(chain.by_hash(str(params[0]))),
            "eth_getLogs": lambda params: self._logs(params[0]),
            "eth_getBlockReceipts": lambda params: self._receipts(str(params[0])),
            "eth_getCode": lambda params: _json(self._code(*params)),
            "eth_call": lambda _: _json(_FULL_WORD),
            "eth_getBalance": lambda _: _json("0x0"),
            "eth_gasPrice": lambda _: _json(hex(10**9)),
        }

    def result(self, call: RpcCall) -> Buffers:
        """The result of a call. Raises RpcRefusalError where a node answers with an error."""
        method = self._methods.get(call.method)
        if call.method == "eth_newFilter":
            # ethereum-etl requests logs directly where it reads exactly this.
            raise RpcRefusalError(
                _SERVER, f"the method is currently not implemented: {call.method}"
            )
        if method is None:
            raise RpcRefusalError(_NOT_FOUND, f"the method {call.method} does not exist")
        try:
            return method(call.params)
        except (ValueError, IndexError, TypeError) as error:  # msgspec's errors are ValueErrors
            raise RpcRefusalError(_INVALID_PARAMS, f"invalid argument: {error}") from None

    def height(self, name: str) -> int:
        """The number that a tag or hex stands for. Raises ValueError."""
        if name in _TAGS:
            return self._chain.head
        return 0 if name == "earliest" else int(name, 16)

    def _numbered(self, name: str) -> SpooledBlock | None:
        return self._chain.at(self.height(name))

    def _logs(self, log_filter: object) -> Buffers:
        query = msgspec.convert(log_filter, Query)
        addresses = [query.address] if isinstance(query.address, str) else query.address
        first, *rest = query.topics or [None]
        wanted = LogFilter(
            frozenset(map(str.lower, addresses)) if addresses else None,
            frozenset([first] if isinstance(first, str) else first) if first else None,
        )
        found = self._chain.spool.logs(self._asked_blocks(query), wanted)
        if rest or (query.topics and not first):  # a log has at least as many topics as the filter
            found = _filtered(found, [first, *rest])
        return [memoryview(b"["), *found, memoryview(b"]")]

    def _asked_blocks(self, query: Query) -> list[SpooledBlock]:
        if query.block_hash is not None:
            block = self._chain.by_hash(query.block_hash)
            if block is None:
                raise RpcRefusalError(_SERVER, "unknown block")
            return [block]
        first, last = self.height(query.from_block), self.height(query.to_block)
        if first > last:
            raise RpcRefusalError(_INVALID_PARAMS, "invalid block range params")
        numbers = range(first, min(last, self._chain.head) + 1)
        return [block for number in numbers if (block := self._chain.at(number)) is not None]

    def _receipts(self, name: str) -> Buffers:
        is_hash = len(name) == len(_FULL_WORD)
        block = self._chain.by_hash(name) if is_hash else self._numbered(name)
        if block is None:
            return _json(None)
        return _separated([self._receipt(block, at) for at in range(len(block.transaction_hashes))])

    def _receipt(self, block: SpooledBlock, transaction: int) -> Buffers:
        """Write one receipt with individual logs; gas is the same in all, the bloom empty."""
        places = [at for at, own in enumerate(block.transactions) if own == transaction]
        begin, end = block.starts[places[0]], block.starts[places[-1] + 1] - 1
        head = msgspec.json.encode(
            {
                "transactionHash": block.transaction_hashes[transaction],
                "transactionIndex": hex(transaction),
                "blockHash": block.hash,
                "blockNumber": hex(block.number),
                "from": "0x" + block.hash[2:42],
                "to": block.emitters[places[0]],
                "status": "0x1",
                "type": "0x2",
                "gasUsed": hex(50_000),
                "cumulativeGasUsed": hex(50_000 * (transaction + 1)),
                "effectiveGasPrice": hex(10**9),
                "contractAddress": None,
                "logsBloom": "0x" + "0" * 512,
            }
        )
        opened = memoryview(head[:-1] + b',"logs":[')
        return [opened, *self._chain.spool.slices([(begin, end)]), memoryview(b"]}")]

    def _code(self, address: str, name: str = "latest") -> str:
        has_code = self._chain.has_code(address.lower(), self.height(name))
        return _SOME_CODE if has_code else "0x"


class StaticBlocks:
    """A whole chain that does not change."""

    def __init__(
        self,
        *,
        chain_id: int,
        spool: BlockSpool,
        blocks: Sequence[SpooledBlock],
        wallets: Sequence[str],
    ) -> None:
        """Answers of a node.

        `blocks`: without a gap, the lowest first. `wallets`: accounts without code.
        """
        self.chain_id = chain_id
        self.spool = spool
        self._blocks = blocks
        self._first = blocks[0].number
        self._by_hash = {block.hash: block for block in blocks}
        self._wallets = frozenset(wallets)

    @property
    def head(self) -> int:
        """Number of the newest block."""
        return self._first + len(self._blocks) - 1

    def at(self, number: int) -> SpooledBlock | None:
        """The block at a height."""
        return self._blocks[number - self._first] if self._first <= number <= self.head else None

    def by_hash(self, block_hash: str) -> SpooledBlock | None:
        """A block by its hash."""
        return self._by_hash.get(Hash32(block_hash))

    def has_code(self, address: str, number: int) -> bool:
        """True if it is none of the wallets, at any existing height."""
        return self.at(number) is not None and address not in self._wallets


def _header(block: SpooledBlock | None) -> Buffers:
    return _json(None) if block is None else [memoryview(block.header)]


def _json(value: object) -> Buffers:
    return [memoryview(msgspec.json.encode(value))]


def _separated(items: Sequence[Buffers]) -> Buffers:
    """Write a JSON list of texts in chunks."""
    pieces: Buffers = [memoryview(b"[")]
    for at, item in enumerate(items):
        pieces += [memoryview(b","), *item] if at else item
    return [*pieces, memoryview(b"]")]


def _filtered(found: Buffers, topics: Sequence[str | list[str] | None]) -> Buffers:
    """Return the entries of a list that match all topics: slow, and rare."""
    logs = msgspec.json.decode(b"[" + b"".join(found) + b"]", type=list[msgspec.Raw])
    kept = [
        bytes(log)
        for log in logs
        if _has_topics(msgspec.json.decode(log, type=_LogTopics).topics, topics)
    ]
    return [memoryview(b",".join(kept))]


def _has_topics(own: Sequence[str], wanted: Sequence[str | list[str] | None]) -> bool:
    if len(own) < len(wanted):
        return False
    return all(
        not one or topic == one or (isinstance(one, list) and topic in one)
        for topic, one in zip(own, wanted, strict=False)
    )


def replay_blocks(maker: BlockMaker) -> Iterator[ReplayBlock]:
    """All blocks of the spec's chain, in order."""
    parent_hash = maker.root_hash
    for number in range(maker.spec.first_block, maker.spec.last_block + 1):
        block = maker.make(number, parent_hash=parent_hash)
        parent_hash = block.hash
        yield block


def prepare_node(
    maker: BlockMaker, spool: BlockSpool, blocks: Iterable[ReplayBlock] | None = None
) -> NodeAnswers:
    """Make the whole chain, about ten microseconds a log, and answer for it from the spool.

    `blocks`: those of `replay_blocks`, so that a caller can read them on the way.
    """
    spec = maker.spec
    spooled = [
        spool.add(encode_block(block, spec.log_format, has_transactions=spec.has_transactions))
        for block in (replay_blocks(maker) if blocks is None else blocks)
    ]
    chain = StaticBlocks(
        chain_id=spec.chain.id, spool=spool, blocks=spooled, wallets=maker.people.wallets
    )
    return NodeAnswers(chain)
