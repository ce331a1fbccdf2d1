"""Read batch: reads of many steps in one round trip, including reads that depend on other answers.

A read may go to an address that is not known yet: `promise` returns a placeholder for the address
in an earlier answer. Where the node accepts state overrides, all of it is one trip (a multicall
pack); other reads go plainly, one trip for each level of dependence, with the same answers.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Self

import msgspec

from analysis.reads import pinned_block
from analysis.reads.multicall import (
    Read,
    ReadIdentity,
    ReadKind,
    address_in,
    answer_of,
    fits,
    pack_request,
    read_pack,
)
from analysis.reads.node import Node
from analysis.reads.node_capabilities import Capability, NodeCapabilities
from analysis.reads.pinned_block import PinnedHeader
from core.primitives import Address, Hash32
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

_FEWEST = 3
"""Reads that are worth a pack; fewer go alone."""

_LONGEST_DATA = 2**14
"""Characters of calldata. A larger read needs the gas of a call of its own."""

_NOT_ASKED = RpcFault(code=3, message="execution reverted", data="0x")
_NO_CODE = msgspec.Raw(b'"0x"')
_LATEST = "latest"


class _Source(msgspec.Struct, frozen=True):
    """The earlier answer that a request's address comes from."""

    index: int
    place: int | None
    """Offset in the calldata. None: it is the address read."""


class _Pack:
    """Steps of one multicall, with the indices of their requests."""

    def __init__(self, at: Address, block: object) -> None:
        self.at = at
        self.block = block
        self.overrides: dict[Address, object] = {}
        self.steps: list[Read] = []
        self.indices: list[int] = []

    def request(self, block: object = None) -> RpcRequest:
        return pack_request(
            self.steps, at=self.at, block=block or self.block, overrides=self.overrides
        )


class ReadBatch:
    """Collects requests, sends them together, and returns each step its own answers."""

    def __init__(self) -> None:
        self._is_newest = False
        self.block = Hash32("0x" + secrets.token_hex(32))
        self._header: PinnedHeader | None = None
        self._mark = secrets.token_hex(16)
        self._requests: list[RpcRequest] = []
        self._first_bytes: dict[int, int] = {}
        self._answers: dict[int, RpcAnswer] = {}
        self._sources: dict[int, _Source] = {}

    @classmethod
    def opening(cls, block: Hash32 | None) -> Self:
        """Return a batch that also requests its block's header.

        `block` None: the newest block. Requests are then made with `self.block`, a placeholder for
        its hash until `send` has returned.
        """
        trip = cls()
        trip._is_newest = block is None
        trip.block = block or trip.block
        trip.ask([pinned_block.request(block)])
        return trip

    def ask(self, requests: Sequence[RpcRequest], *, first_bytes: int | None = None) -> slice:
        """Add a step's requests; the returned slice indexes their answers after `send`.

        `first_bytes`: the answers may be cut to so many.
        """
        start = len(self._requests)
        for index, request in enumerate(requests, start):
            source = _find_source(request, self._mark)
            if source is not None:
                self._sources[index] = source
            if first_bytes is not None:
                self._first_bytes[index] = first_bytes
        self._requests.extend(requests)
        return slice(start, len(self._requests))

    def promise(self, at: int) -> Address:
        """Return a placeholder, for later requests, of the address in the answer to request
        `at`."""
        return Address(f"0x{self._mark}{at:08x}")

    def kept(self, promised: Address) -> Address | None:
        """Return the address that replaces a placeholder. None: the answer has none."""
        index = int(promised[-8:], 16)
        return address_in(_step_of(self._requests[index]) or _ANY, self._answers[index])

    def settled(self, address: Address) -> Address | None:
        """Return the address; for a placeholder the one that replaces it, None if there is none."""
        return self.kept(address) if address[2:].startswith(self._mark) else address

    def __getitem__(self, asked: slice) -> list[RpcAnswer]:
        return [self._answers[index] for index in range(asked.start, asked.stop)]

    @property
    def header(self) -> PinnedHeader:
        """Return the header of an opening batch's block. Raises UpstreamError."""
        if self._header is None:
            self._header = pinned_block.read(self._answers[0])
        return self._header

    def memory(self, asked: slice) -> dict[bytes, RpcAnswer]:
        """Return the answers to those of these requests that were sent, by `memory_key`."""
        concrete = {index: self._concrete(index) for index in range(asked.start, asked.stop)}
        return {
            memory_key(request): self._answers[index]
            for index, request in concrete.items()
            if request is not None
        }

    # --- sending ------------------------------------------------------------------------------

    def has(self, asked: slice) -> bool:
        """True if all these answers are there; some may be when `send` was cancelled."""
        return all(index in self._answers for index in range(asked.start, asked.stop))

    async def send(self, node: Node, capabilities: NodeCapabilities | None = None) -> None:
        """Send all requests. `capabilities` None: nothing is packed, but the newest block needs
        packs.

        Raises UpstreamError when no endpoint answers, or the newest block has no header.
        """
        packs = (
            self._packs() if capabilities is not None and capabilities.packs.is_worth_trying else []
        )
        packed = {index for pack in packs for index in pack.indices}
        alone = [index for index in range(len(self._requests)) if self._can_go(index, packed)]
        answers = await node.batch(
            [
                *(self._requests[index] for index in alone),
                *(pack.request(_LATEST if self._is_newest else None) for pack in packs),
            ]
        )
        self._answers.update(zip(alone, answers, strict=False))
        left = [
            pack
            for pack, answer in zip(packs, answers[len(alone) :], strict=True)
            if not self._take(pack, answer)
        ]
        if left and self._is_newest:
            left = await self._send_again(node, left)
        await self._finish(node)
        if capabilities is not None and packs:
            self._note(capabilities.packs, packs, left)

    async def _send_again(self, node: Node, packs: Sequence[_Pack]) -> list[_Pack]:
        """Repeat by block hash the packs that ran on a later head; return those that failed."""
        block = {"blockHash": self.header.ref.hash}
        answers = await node.batch([pack.request(block) for pack in packs])
        self._is_newest = False
        return [
            pack
            for pack, answer in zip(packs, answers, strict=True)
            if not self._take(pack, answer)
        ]

    def _note(self, power: Capability, packs: Sequence[_Pack], refused: Sequence[_Pack]) -> None:
        """Record whether the node accepts packs. It does not if it rejects all while plain reads
        work; once others were accepted, a single pack may be rejected for its content."""
        if len(refused) < len(packs):
            power.is_proven = True
        elif self._was_answered(refused) and (len(packs) > 1 or not power.is_proven):
            power.note_refusal()

    async def _finish(self, node: Node) -> None:
        """Send the open requests plainly, each as soon as its address is known."""
        while True:
            open_indices = [i for i in range(len(self._requests)) if i not in self._answers]
            ready = {
                index: request
                for index in open_indices
                if self._is_due(index) and (request := self._concrete(index)) is not None
            }
            if not ready:
                break
            answers = await node.batch(list(ready.values()))
            self._answers.update(zip(ready, answers, strict=True))
        for index in range(len(self._requests)):
            is_code = self._requests[index].method == "eth_getCode"
            self._answers.setdefault(index, _NO_CODE if is_code else _NOT_ASKED)

    def _is_due(self, index: int) -> bool:
        source = self._sources.get(index)
        return source is None or source.index in self._answers

    def _can_go(self, index: int, packed: set[int]) -> bool:
        """True if a request goes out alone in the first trip."""
        if index in packed or index in self._sources:
            return False
        return not (self._is_newest and _mentions(self._requests[index], self.block))

    def _was_answered(self, packs: Sequence[_Pack]) -> bool:
        """True if plain reads of these packs succeeded: the node rejected the packs only."""
        told = [self._answers[index] for pack in packs for index in pack.indices]
        return not all(isinstance(answer, RpcFault) for answer in told)

    def _take(self, pack: _Pack, answer: RpcAnswer) -> bool:
        """Store a pack's answers. False: it has none, or it ran on another block."""
        told = read_pack(answer, count=len(pack.steps))
        if told is None or (self._is_newest and not _is_of(told[0], self.header)):
            return False
        for index, step, one in zip(pack.indices, pack.steps, told[1], strict=True):
            plain = answer_of(step, one)
            if plain is not None:
                self._answers[index] = plain
        return True

    def _concrete(self, index: int) -> RpcRequest | None:
        """Return the request without placeholders. None: the answer it needs has no address."""
        request = self._requests[index]
        names: dict[str, str] = {}
        if _mentions(request, self.block):
            names[self.block] = self.header.ref.hash
        source = self._sources.get(index)
        if source is not None:
            promised = self.promise(source.index)
            address = self.kept(promised)
            if address is None:
                return None
            names[promised[2:]] = address[2:]
        return _renamed(request, names) if names else request

    # --- packing ------------------------------------------------------------------------------

    def _packs(self) -> list[_Pack]:
        packs: dict[object, _Pack] = {}
        homes: dict[int, tuple[_Pack, int]] = {}
        for index, request in enumerate(self._requests):
            step = _step_of(request)
            source = self._sources.get(index)
            if step is None or (source is not None and source.index not in homes):
                continue
            pack = homes[source.index][0] if source else _home(request, step, packs)
            if pack is None or not _belongs(step, pack, source) or not fits(pack.steps):
                continue
            homes[index] = pack, len(pack.steps)
            pack.indices.append(index)
            pack.steps.append(
                msgspec.structs.replace(
                    step,
                    ref=homes[source.index][1] if source else None,
                    place=source.place if source else None,
                    first_bytes=self._first_bytes.get(index),
                )
            )
        return [pack for pack in packs.values() if self._is_worthwhile(pack)]

    def _is_worthwhile(self, pack: _Pack) -> bool:
        """True if a pack saves calls, or a trip where reads depend on others; in a batch of the
        newest block it also identifies the block, which no plain read does."""
        if self._is_newest or any(step.ref is not None for step in pack.steps):
            return bool(pack.steps)
        return len(pack.steps) >= _FEWEST


class BatchingNode:
    """A node whose batches are packed where it accepts packs."""

    def __init__(
        self, node: Node, capabilities: NodeCapabilities, *, memory: Mapping[bytes, RpcAnswer]
    ) -> None:
        """`memory`: answers that are known already, by `memory_key`."""
        self._node = node
        self._powers = capabilities
        self._memory = memory
        self.fetch_head = node.fetch_head

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        """Send the requests not known yet, as `Node.batch`. Raises UpstreamError."""
        known = [self._memory.get(memory_key(request)) for request in requests]
        missing = [
            request for request, answer in zip(requests, known, strict=True) if answer is None
        ]
        trip = ReadBatch()
        asked = trip.ask(missing)
        if missing:
            await trip.send(self._node, self._powers)
        answers = iter(trip[asked])
        return [next(answers) if answer is None else answer for answer in known]


def memory_key(request: RpcRequest) -> bytes:
    """Return a key that is equal for equal requests."""
    return msgspec.json.encode(request)


_ANY = Read(kind=ReadKind.CALL, to=Address("0x" + "00" * 20))


def _is_of(identity: ReadIdentity, header: PinnedHeader) -> bool:
    """True if a pack ran on the block of this header. A call cannot read its own block's hash."""
    ref = header.ref
    return identity == ReadIdentity(
        number=ref.number, time_s=ref.time_s, parent_hash=ref.parent_hash, proposer=header.proposer
    )


def _step_of(request: RpcRequest) -> Read | None:
    """Return the read as a step of a pack. None: it cannot be one."""
    match request:
        case RpcRequest("eth_call", ({"to": str(to), "data": str(data), **rest}, _, *more)):
            is_small = len(data) <= _LONGEST_DATA
            if is_small and rest.keys() <= {"gas"} and (not more or _are_marks(more)):
                return Read(kind=ReadKind.CALL, to=Address(to), data=bytes.fromhex(data[2:]))
        case RpcRequest("eth_getCode", (str(address), _)):
            return Read(kind=ReadKind.CODE, to=Address(address))
        case RpcRequest("eth_getStorageAt", (str(address), str(slot), _)):
            return Read(kind=ReadKind.WORD, to=Address(address), data=bytes.fromhex(slot[2:]))
    return None


def _are_marks(more: Sequence[object]) -> bool:
    match more:
        case [dict(overrides)]:
            return all(set(change) == {"stateDiff"} for change in overrides.values())
    return False


def _home(request: RpcRequest, step: Read, packs: dict[object, _Pack]) -> _Pack | None:
    """Return the pack of a request without a source. None: that pack's overrides conflict."""
    block = request.params[-1] if step.kind is not ReadKind.CALL else request.params[1]
    overrides = request.params[2] if len(request.params) > 2 and step.kind is ReadKind.CALL else {}  # noqa: PLR2004 - call, block, overrides
    assert isinstance(overrides, dict)  # noqa: S101 - _step_of has looked
    owner = step.to if step.kind is ReadKind.WORD else None
    key = owner, bool(overrides), memory_key(RpcRequest("", (block,)))
    at = owner or Address("0x" + secrets.token_hex(20))
    pack = packs.setdefault(key, _Pack(at, block))
    if any(pack.overrides.get(name, change) != change for name, change in overrides.items()):
        return None
    pack.overrides |= overrides
    return pack


def _belongs(step: Read, pack: _Pack, source: _Source | None) -> bool:
    """True if the step reads the same inside the pack, where one contract's code may be Reader."""
    if step.kind is ReadKind.WORD:
        return step.to == pack.at
    return step.to != pack.at or (source is not None and source.place is None)


def _find_source(request: RpcRequest, mark: str) -> _Source | None:
    match request.params:
        case ({"to": str(to), "data": str(data)}, *_):
            if mark in to:
                return _Source(_index_in(to, mark), None)
            if mark in data:
                # An address ends its word, twelve bytes in; counted in bytes, without the 0x.
                return _Source(_index_in(data, mark), data.index(mark) // 2 - 1 - 12)
        case (str(address), *_) if mark in address:
            return _Source(_index_in(address, mark), None)
    return None


def _index_in(text: str, mark: str) -> int:
    end = text.index(mark) + len(mark)
    return int(text[end : end + 8], 16)


def _mentions(request: RpcRequest, name: str) -> bool:
    return any(name in param.values() for param in request.params if isinstance(param, dict))


def _renamed(request: RpcRequest, names: Mapping[str, str]) -> RpcRequest:
    text = msgspec.json.encode(request.params).decode()
    for name, meant in names.items():
        text = text.replace(name, meant)
    return RpcRequest(request.method, msgspec.json.decode(text, type=tuple[object, ...]))
