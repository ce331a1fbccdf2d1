"""Writers of storage entries: the transactions that gave entries of lists their values.

The block is searched by reading the entry at sixteen moments at once, ever closer together; its
transaction is the one whose trace changes the entry. A node without old states gives none. An
entry that was written several times has one of those transactions, the latest that was met.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from analysis.reads.eth_reads import decode_answer, read_word
from analysis.reads.node import Node
from analysis.reads.rpc_reads import STATE_CHANGES
from core.errors import UpstreamError
from core.evm.primitives import Address, Hash32, Selector
from core.rpc.messages import RpcFault, RpcRequest

_MOST_SEARCHES: Final = 4
"""Blocks that are searched; entries that were written together share one."""

_POINTS: Final = 15
_MOST_ROUNDS: Final = 8
"""Round trips of one search: sixteen to the eighth blocks."""

_MOST_HINTS: Final = 10
_TRACED: Final = (8, 24)
"""Transactions that are traced at once: those to the contract, then others of the block."""

_SELECTOR_CHARS: Final = 10


class StoredEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A storage word of a contract."""

    contract: Address
    slot: Hash32
    word: int


class EntryWrite(msgspec.Struct, frozen=True, kw_only=True):
    """The block in which an entry got its value, and the transaction that did it."""

    block_number: int
    tx_hash: Hash32 | None
    """None: it could not be distinguished from the others of its block."""
    sender: Address | None
    to: Address | None
    """None: not known, or it created a contract."""
    function: Selector | None
    """First four bytes of its data. None: not known, or it had none."""
    is_traced: bool
    """True: its trace changes the entry. False: the block's only call of that contract."""


class _Mined(msgspec.Struct, frozen=True, kw_only=True):
    hash: Hash32
    sender: str = msgspec.field(name="from")
    to: str | None = None
    input: str = "0x"


class _Block(msgspec.Struct, frozen=True):
    transactions: tuple[_Mined, ...] = ()


class _Account(msgspec.Struct, frozen=True):
    storage: dict[str, str] = {}


class _Changes(msgspec.Struct, frozen=True):
    pre: dict[str, _Account]
    post: dict[str, _Account]


async def find_writers(
    node: Node,
    entries: Sequence[StoredEntry],
    *,
    since: int,
    until: int,
    hints: Sequence[int] = (),
    until_s: float | None = None,
) -> Mapping[StoredEntry, EntryWrite]:
    """Return the writers of entries that are not zero. Left out: those that were not found.

    `since`: a block before the contract existed. `until`: the block of the words. `hints`: blocks
    in which the entries may have been written. `until_s`: a time of the event loop's clock, at
    which the search ends. Never raises.
    """
    search = _WriterSearch(node, since=since, until=until, hints=hints)
    try:
        async with asyncio.timeout_at(until_s):
            await search.run([each for each in entries if each.word])
    except (TimeoutError, UpstreamError):
        pass
    return search.found


class _WriterSearch:
    def __init__(self, node: Node, *, since: int, until: int, hints: Sequence[int]) -> None:
        self._node = node
        self._since = since
        self._until = until
        self._hints = [hint for hint in hints if since < hint <= until][:_MOST_HINTS]
        self.found: dict[StoredEntry, EntryWrite] = {}

    async def run(self, entries: Sequence[StoredEntry]) -> None:
        left = list(entries)
        for _ in range(_MOST_SEARCHES):
            if not left:
                return
            block = await self._find_block(left[0])
            if block is None:
                return  # the node has no old states
            together = await self._written_in(block, left)
            writes = await self._find_transactions(block, together or left[:1])
            self.found.update(writes)
            left = [each for each in left if each not in writes]

    async def _find_block(self, entry: StoredEntry) -> int | None:
        """Return the block in which an entry got its value. None: not found."""
        low, high, is_known = self._since, self._until, True
        points = sorted({at for hint in self._hints for at in (hint - 1, hint)})
        for _ in range(_MOST_ROUNDS):
            points = points or _between(low, high)
            words = await self._words(entry, points)
            for at, word in reversed(list(zip(points, words, strict=True))):
                if not low < at < high:
                    continue
                if word is None or word != entry.word:
                    low, is_known = at, word is not None
                    break
                high = at
            points = []
            if high - low <= 1:
                return high if is_known else None
        return None

    async def _words(self, entry: StoredEntry, blocks: Sequence[int]) -> list[int | None]:
        """Return an entry's words at some blocks. None: the node has no such state."""
        answers = await self._node.batch([_word_request(entry, at) for at in blocks])
        return [None if isinstance(answer, RpcFault) else read_word(answer) for answer in answers]

    async def _written_in(self, block: int, entries: Sequence[StoredEntry]) -> list[StoredEntry]:
        """Return those of the entries that got their value in a block."""
        requests = [_word_request(each, at) for each in entries for at in (block - 1, block)]
        answers = await self._node.batch(requests)
        words = [None if isinstance(each, RpcFault) else read_word(each) for each in answers]
        pairs = zip(entries, words[::2], words[1::2], strict=True)
        return [
            each
            for each, before, after in pairs
            if after == each.word and before is not None and before != each.word
        ]

    async def _find_transactions(
        self, block: int, entries: Sequence[StoredEntry]
    ) -> dict[StoredEntry, EntryWrite]:
        """Return the writer of each entry that got its value in a block."""
        (answer,) = await self._node.batch([RpcRequest("eth_getBlockByNumber", (hex(block), True))])
        mined = decode_answer(answer, _Block)
        unknown = EntryWrite(
            block_number=block, tx_hash=None, sender=None, to=None, function=None, is_traced=False
        )
        writes = dict.fromkeys(entries, unknown)
        if mined is None:
            return writes
        contracts = {each.contract for each in entries}
        calls = [one for one in mined.transactions if (one.to or "").lower() in contracts]
        others = [one for one in mined.transactions if one not in calls]
        for count, some in zip(_TRACED, (calls, others), strict=True):
            traced = some[:count]
            requests = [
                RpcRequest("debug_traceTransaction", (one.hash, STATE_CHANGES)) for one in traced
            ]
            answers = await self._node.batch(requests) if requests else []
            for one, changes in zip(traced, answers, strict=True):
                seen = decode_answer(changes, _Changes)
                for entry in entries:
                    if seen is not None and _is_changed(entry, seen):
                        writes[entry] = _write_of(one, block, is_traced=True)
            if all(each.is_traced for each in writes.values()):
                return writes
        if len(calls) == 1:
            named = _write_of(calls[0], block, is_traced=False)
            writes = {entry: one if one.is_traced else named for entry, one in writes.items()}
        return writes


def _between(low: int, high: int) -> list[int]:
    """Return at most _POINTS blocks between two, evenly spaced."""
    parts = min(_POINTS + 1, high - low)
    return [low + (high - low) * at // parts for at in range(1, parts)]


def _word_request(entry: StoredEntry, block: int) -> RpcRequest:
    return RpcRequest("eth_getStorageAt", (entry.contract, entry.slot, hex(block)))


def _is_changed(entry: StoredEntry, changes: _Changes) -> bool:
    """True if a transaction's changes leave the entry's word."""
    after = {at.lower(): account for at, account in changes.post.items()}.get(entry.contract)
    words = {} if after is None else {at.lower(): word for at, word in after.storage.items()}
    word = words.get(entry.slot)
    return word is not None and int(word, 16) == entry.word


def _write_of(one: _Mined, block: int, *, is_traced: bool) -> EntryWrite:
    has_function = one.to is not None and len(one.input) >= _SELECTOR_CHARS
    return EntryWrite(
        block_number=block,
        tx_hash=one.hash,
        sender=Address(one.sender.lower()),
        to=None if one.to is None else Address(one.to.lower()),
        function=Selector(one.input[:_SELECTOR_CHARS].lower()) if has_function else None,
        is_traced=is_traced,
    )
