"""Exchange of a batch's reads with a node: packed, plain, or from memory, with their answers.

Where the node accepts state overrides, all reads are one trip; other reads go plainly, one trip for
each level of dependence, with the same answers.
"""

import secrets
from collections.abc import Mapping, Sequence

import msgspec

from analysis.reads.answer_address import address_in
from analysis.reads.chain_reads import (
    AnswerAddress,
    CallRead,
    CodeRead,
    ContractRead,
    SlotRead,
    source_of,
    with_address,
)
from analysis.reads.multicall import PackStep, ReadIdentity, fits, pack_request, read_pack, reply_of
from analysis.reads.node import Node
from analysis.reads.node_capabilities import Capability, NodeCapabilities
from analysis.reads.rpc_reads import NodeFault, ReadAnswer, not_made, read_answer, read_request
from core.errors import UpstreamError
from core.evm.primitives import Address, Hash32
from core.rpc.headers import Header, block_request, decode_header
from core.rpc.messages import RpcAnswer, RpcRequest

_FEWEST = 3
"""Reads that are worth a pack; fewer go alone."""

_LONGEST_DATA = 8_191
"""Bytes of calldata: 16 KiB of JSON. A larger read needs the gas of a separate call."""

_Key = tuple[Address | None, bool]


class ReadPack(msgspec.Struct, kw_only=True):
    """Reads of one multicall, with their indices in the batch."""

    at: Address
    """Address of the code of Reader: the contract whose slots it reads, or an unused one."""
    overrides: dict[Address, dict[str, object]] = {}
    """State overrides of the reads, besides that code."""
    steps: list[PackStep] = []
    indices: list[int] = []

    def request(self, block: object) -> RpcRequest:
        """Return the eth_call, for a block tag or an EIP-1898 block."""
        return pack_request(self.steps, at=self.at, block=block, overrides=self.overrides)


def pack_reads(
    reads: Mapping[int, ContractRead], first_bytes: Mapping[int, int], *, is_newest: bool
) -> list[ReadPack]:
    """Return the packs of these reads, which are by their index in the batch, in that order.

    Reads that are in none go alone. `is_newest`: the batch is of the newest block, which only packs
    identify, so a single read is worth one.
    """
    packs: dict[_Key, ReadPack] = {}
    homes: dict[int, tuple[ReadPack, int]] = {}
    for index, read in reads.items():
        source = source_of(read)
        if not _is_packable(read) or (source is not None and source.read.index not in homes):
            continue
        pack = homes[source.read.index][0] if source else _home(read, packs)
        if pack is None or not _belongs(read, pack) or not fits(pack.steps):
            continue
        homes[index] = pack, len(pack.steps)
        pack.indices.append(index)
        pack.steps.append(
            PackStep(
                read=read,
                source=homes[source.read.index][1] if source else None,
                first_bytes=first_bytes.get(index),
            )
        )
    return [pack for pack in packs.values() if _is_worthwhile(pack.steps, is_newest=is_newest)]


def _is_worthwhile(steps: Sequence[PackStep], *, is_newest: bool) -> bool:
    """True if a pack saves calls, or a trip where reads depend on others; in a batch of the newest
    block it also identifies the block, which no plain read does."""
    if is_newest or any(step.source is not None for step in steps):
        return bool(steps)
    return len(steps) >= _FEWEST


def _is_packable(read: ContractRead) -> bool:
    if not isinstance(read, CallRead):
        return True
    return read.to is not None and read.code is None and len(read.data) <= _LONGEST_DATA


def _home(read: ContractRead, packs: dict[_Key, ReadPack]) -> ReadPack | None:
    """Return the pack of a read without a source. None: that pack's overrides conflict."""
    owner = read.contract if isinstance(read, SlotRead) else None
    overrides = _overrides(read)
    key = owner, bool(overrides)
    pack = packs.get(key)
    if pack is None:
        pack = packs[key] = ReadPack(at=owner or Address("0x" + secrets.token_hex(20)))
    if any(pack.overrides.get(name, change) != change for name, change in overrides.items()):
        return None
    pack.overrides |= overrides
    return pack


def _overrides(read: ContractRead) -> dict[Address, dict[str, object]]:
    match read:
        case CallRead(to=str(to), storage=storage) if storage:
            return {Address(to): {"stateDiff": dict[Hash32, Hash32](storage)}}
    return {}


def _belongs(read: ContractRead, pack: ReadPack) -> bool:
    """True if the read means the same inside the pack, where one contract's code is Reader."""
    match read:
        case SlotRead(contract=contract):
            return contract == pack.at
        case CallRead(to=subject) | CodeRead(address=subject):
            return subject != pack.at


_LATEST = "latest"


class ReadExchange:
    """Reads and other requests of one batch on one block, with the answers so far."""

    def __init__(
        self,
        block: Hash32 | None,
        *,
        needs_header: bool,
        memory: Mapping[ContractRead, ReadAnswer] | None = None,
    ) -> None:
        """`block` None: the newest, whose header is requested too, and whose hash is known once
        `send` has returned. `memory`: answers that are known already."""
        self._is_newest = block is None
        self._block = block
        self._header: Header | None = None
        self._memory = memory or {}
        self._first_bytes: dict[int, int] = {}
        self.reads: list[ContractRead] = []
        self.answers: dict[int, ReadAnswer] = {}
        self._requests: list[RpcRequest] = [block_request(block)] if needs_header else []
        """Requests that are no reads of contracts, and are sent as they are."""
        self.results: dict[int, RpcAnswer] = {}
        """Answers to the requests that are no reads, by their index."""

    def add(self, read: ContractRead, *, first_bytes: int | None) -> int:
        """Add a read; return its index."""
        if first_bytes is not None:
            self._first_bytes[len(self.reads)] = first_bytes
        self.reads.append(read)
        return len(self.reads) - 1

    def add_request(self, request: RpcRequest) -> int:
        """Add a request that is no read of a contract; return its index."""
        self._requests.append(request)
        return len(self._requests) - 1

    @property
    def header(self) -> Header:
        """Return the header of the block, if it was requested. Raises UpstreamError."""
        if self._header is None:
            self._header = decode_header(self.results[0], request="block header")
            if self._header is None:
                raise UpstreamError(service="node", reason="block header: no such block")
        return self._header

    def concrete(self, index: int) -> ContractRead | None:
        """Return a read with its addresses known. None: the answer it needs has no address."""
        read = self.reads[index]
        source = source_of(read)
        if source is None:
            return read
        address = self.resolve(source)
        return None if address is None else with_address(read, address)

    def resolve(self, source: AnswerAddress) -> Address | None:
        """Return the address in the answer to a read. None: there is none."""
        index = source.read.index
        return address_in(self.reads[index], self.answers[index])

    async def send(self, node: Node, capabilities: NodeCapabilities | None) -> None:
        """Send everything that memory does not answer. `capabilities` None: nothing is packed.

        Raises UpstreamError when no endpoint answers, or the newest block has no header.
        """
        self._recall()
        is_packing = capabilities is not None and capabilities.packs.is_worth_trying
        packs = self._packs() if is_packing else []
        alone = self._plain({index for pack in packs for index in pack.indices})
        pack_requests = [pack.request(self._pack_block()) for pack in packs]
        requests = [*self._requests, *alone.values(), *pack_requests]
        if not requests:
            return
        answers = await node.batch(requests)
        plain_from, packs_from = len(self._requests), len(requests) - len(packs)
        self.results.update(enumerate(answers[:plain_from]))
        self._note_plain(alone, answers[plain_from:packs_from])
        left = self._take_all(packs, answers[packs_from:])
        if left and self._is_newest:
            left = await self._send_again(node, left)
        await self._finish(node)
        if capabilities is not None and packs:
            self._note(capabilities.packs, packs, left)

    def _recall(self) -> None:
        if self._memory:
            known = ((index, self._memory.get(read)) for index, read in enumerate(self.reads))
            self.answers.update((index, answer) for index, answer in known if answer is not None)

    def _packs(self) -> list[ReadPack]:
        unanswered = {
            index: read for index, read in enumerate(self.reads) if index not in self.answers
        }
        return pack_reads(unanswered, self._first_bytes, is_newest=self._is_newest)

    def _plain(self, packed: set[int]) -> dict[int, RpcRequest]:
        """Return the requests of the reads that go alone in the first trip; those of the newest
        block have to wait for its hash."""
        if self._block is None:
            return {}
        return {
            index: read_request(read, block=self._block)
            for index, read in enumerate(self.reads)
            if index not in packed and index not in self.answers and source_of(read) is None
        }

    def _pack_block(self) -> object:
        return _LATEST if self._block is None else {"blockHash": self._block}

    def _note_plain(self, sent: Mapping[int, RpcRequest], answers: Sequence[RpcAnswer]) -> None:
        for index, answer in zip(sent, answers, strict=True):
            self.answers[index] = read_answer(self.reads[index], answer)

    async def _send_again(self, node: Node, packs: Sequence[ReadPack]) -> list[ReadPack]:
        """Repeat by block hash the packs that ran on a later head; return those that failed."""
        block = {"blockHash": self.header.ref.hash}
        answers = await node.batch([pack.request(block) for pack in packs])
        self._is_newest = False
        return self._take_all(packs, answers)

    def _take_all(self, packs: Sequence[ReadPack], answers: Sequence[RpcAnswer]) -> list[ReadPack]:
        """Store the packs' answers; return the packs without any."""
        return [
            pack
            for pack, answer in zip(packs, answers, strict=True)
            if not self._take(pack, answer)
        ]

    def _take(self, pack: ReadPack, answer: RpcAnswer) -> bool:
        """Store a pack's answers. False: it has none, or it ran on another block."""
        decoded = read_pack(answer, count=len(pack.steps))
        if decoded is None or (self._is_newest and not _is_of(decoded[0], self.header)):
            return False
        for index, step, result in zip(pack.indices, pack.steps, decoded[1], strict=True):
            reply = reply_of(step, result)
            if reply is not None:
                self.answers[index] = reply
        return True

    async def _finish(self, node: Node) -> None:
        """Send the open reads plainly, each as soon as its address is known."""
        while ready := self._ready():
            answers = await node.batch(list(ready.values()))
            self._note_plain(ready, answers)
        for index, read in enumerate(self.reads):
            self.answers.setdefault(index, not_made(read))

    def _ready(self) -> dict[int, RpcRequest]:
        concrete = {
            index: self.concrete(index)
            for index in range(len(self.reads))
            if index not in self.answers and self._is_due(index)
        }
        return {
            index: read_request(read, block=self._block or self.header.ref.hash)
            for index, read in concrete.items()
            if read is not None
        }

    def _is_due(self, index: int) -> bool:
        source = source_of(self.reads[index])
        return source is None or source.read.index in self.answers

    def _note(
        self, power: Capability, packs: Sequence[ReadPack], refused: Sequence[ReadPack]
    ) -> None:
        """Record whether the node accepts packs. It does not if it rejects all while plain reads
        work; once others were accepted, a single pack may be rejected for its content."""
        if len(refused) < len(packs):
            power.is_proven = True
        elif self._was_answered(refused) and (len(packs) > 1 or not power.is_proven):
            power.note_refusal()

    def _was_answered(self, packs: Sequence[ReadPack]) -> bool:
        """True if plain reads of these packs succeeded: the node rejected the packs only."""
        answers = (self.answers[index] for pack in packs for index in pack.indices)
        return any(
            isinstance(answer, bytes) or (isinstance(answer, NodeFault) and not answer.is_refusal)
            for answer in answers
        )


def _is_of(identity: ReadIdentity, header: Header) -> bool:
    """True if a pack ran on the block of this header. A call cannot read its own block's hash."""
    ref = header.ref
    return identity == ReadIdentity(
        number=ref.number, time_s=ref.time_s, parent_hash=ref.parent_hash, proposer=header.proposer
    )
