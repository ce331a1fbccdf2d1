"""Proxy resolution: finds the code that runs at a token's address, its own or an implementation's.

The token's code decides whether it is a proxy and where its implementation is
(`static/dataflow/delegate_targets`); the standard slots and EIP-897 help where it cannot be
followed. Storage is always the token's: an implementation that delegates on still runs on it.
Bound: `_DEEPEST` implementations.
"""

from collections.abc import Mapping, Sequence

import msgspec

from analysis.reads.block_reader import BlockReader
from analysis.reads.chain_reads import AnswerAddress, ContractRead, Handle
from analysis.reads.eth_reads import decode_address
from analysis.reads.read_batch import ReadBatch
from analysis.reads.rpc_reads import ReadAnswer
from analysis.static.analyse_code import CodeAnalysis
from analysis.static.dataflow.delegate_targets import Delegation
from core.evm.keccak import keccak
from core.evm.primitives import ADDRESS_MASK, ZERO_ADDRESS, Address, Hash32, address_of, to_hash32


def _slot(label: str, *, minus_one: bool) -> Hash32:
    return to_hash32(int.from_bytes(keccak(label.encode())) - minus_one)


IMPLEMENTATION_SLOT = _slot("eip1967.proxy.implementation", minus_one=True)
"""EIP-1967: the hash less one, so that no known preimage leads to it."""

BEACON_SLOT = _slot("eip1967.proxy.beacon", minus_one=True)
"""EIP-1967: the contract whose `implementation()` is called."""

ADMIN_SLOT = _slot("eip1967.proxy.admin", minus_one=True)
"""EIP-1967: account that may replace the implementation, where the proxy follows the standard."""

ZEPPELIN_SLOT = _slot("org.zeppelinos.proxy.implementation", minus_one=False)
"""Proxies of OpenZeppelin's ZeppelinOS, before EIP-1967."""

PROXIABLE_SLOT = _slot("PROXIABLE", minus_one=False)
"""EIP-1822."""

STANDARD_SLOTS = (IMPLEMENTATION_SLOT, BEACON_SLOT, ZEPPELIN_SLOT, PROXIABLE_SLOT)

_DEEPEST = 4
"""Nested implementations that are followed."""

_GETTER = "implementation()"
"""EIP-897, and the getter of a beacon."""


class ReadCode(msgspec.Struct, frozen=True, kw_only=True):
    """Next step: read the code of an implementation."""

    address: Address


class AnalyseCode(msgspec.Struct, frozen=True, kw_only=True):
    """Next step: analyse this code. No read."""

    code: bytes


class ReadSlots(msgspec.Struct, frozen=True, kw_only=True):
    """Next step: read slots of the token that the code names."""

    slots: tuple[Hash32, ...]


class ReadBeacon(msgspec.Struct, frozen=True, kw_only=True):
    """Next step: read a beacon's implementation."""

    beacon: Address


class ProxySearch(msgspec.Struct, frozen=True, kw_only=True):
    """State of the search for the code behind a token."""

    token: Address
    is_proxy: bool | None
    """True if the token's address is a proxy. None: its code could not be followed, and no slot
    helps."""
    code: bytes | None
    """Code to analyse, as far as known. None: it is a proxy whose implementation was not found."""
    hops: tuple[Address, ...] = ()
    """Implementations so far; `code` is that of the last."""
    words: dict[Hash32, int] = {}
    """The token's storage read so far, by slot."""
    declared: Address | None = None
    """The address that the token's `implementation()` returns."""
    own: CodeAnalysis | None = None
    """Analysis of the token's own code. None: it has none, or was not analysed yet."""
    found: CodeAnalysis | None = None
    """Analysis of `code`. None: not analysed yet."""
    wants: ReadCode | AnalyseCode | ReadSlots | ReadBeacon | None = None
    """The next step. None: the search has ended."""

    @property
    def implementation(self) -> Address | None:
        """Return the address of the analysed code. None: the token itself, or not found."""
        return self.hops[-1] if self.hops and self.code is not None else None


class StandardSlots(msgspec.Struct, frozen=True, kw_only=True):
    """The reads made of every token, so that most need no second round."""

    words: dict[Hash32, int]
    """Values of STANDARD_SLOTS."""
    declared: Address | None
    """The address that the token's `implementation()` returns."""


class ProxyReads:
    """Reads of the standard slots and the getter, and of the code behind a usual proxy."""

    def __init__(self, batch: ReadBatch, token: Address) -> None:
        self._batch = batch
        self._slots = {slot: batch.slot(token, slot) for slot in STANDARD_SLOTS}
        self._getter = batch.call(token, _GETTER, returns=decode_address)
        self._beacon: Handle[Address | None] | None = None
        self._codes: list[Handle[bytes]] = []

    def follow(self, code: Handle[bytes]) -> None:
        """Add reads of the code behind the proxy, in the same batch: at the address that its own
        code pushes, in a standard slot, behind a beacon in one, or returned by its getter."""
        beacon = AnswerAddress(self._slots[BEACON_SLOT])
        self._beacon = self._batch.call(beacon, _GETTER, returns=decode_address)
        slots = (word for slot, word in self._slots.items() if slot != BEACON_SLOT)
        targets = (code, *slots, self._getter, self._beacon)
        self._codes = [self._batch.code(AnswerAddress(target)) for target in targets]

    def read(self) -> StandardSlots:
        """Decode the slots and the getter. Raises UpstreamError."""
        return StandardSlots(
            words={slot: self._batch[word] for slot, word in self._slots.items()},
            declared=self._batch[self._getter],
        )

    def read_codes(self) -> tuple[bytes, ...]:
        """Return each code behind the proxy once, without empty ones and those that the node
        refused to read. Raises UpstreamError."""
        codes = (self._batch.get(code) for code in self._codes)
        return tuple(code for code in dict.fromkeys(codes) if code)

    def memory(self) -> Mapping[ContractRead, ReadAnswer]:
        """Return the answers that following the proxy may need again."""
        beacon = () if self._beacon is None else (self._beacon,)
        return self._batch.answers((*beacon, *self._codes))


def begin(token: Address, *, code: bytes, standard: StandardSlots) -> ProxySearch:
    """Start from the token's own code and the reads made of every token."""
    trail = ProxySearch(
        token=token, is_proxy=None, code=code, words=standard.words, declared=standard.declared
    )
    return _look_into(trail, code)


async def take_step(trail: ProxySearch, reader: BlockReader) -> ProxySearch:
    """Make the reads of the next step, and take it. Raises UpstreamError."""
    batch = reader.batch()
    match trail.wants:
        case ReadCode(address=address):
            code = batch.code(address)
            await reader.send(batch)
            found = msgspec.structs.replace(trail, hops=(*trail.hops, address), wants=None)
            return _look_into(found, batch[code])
        case ReadSlots(slots=slots):
            reads = {slot: batch.slot(trail.token, slot) for slot in slots}
            await reader.send(batch)
            words = {slot: batch[word] for slot, word in reads.items()}
            known = msgspec.structs.replace(trail, words=trail.words | words)
            return _search(known, _delegation(trail))
        case ReadBeacon(beacon=beacon):
            target = batch.call(beacon, _GETTER, returns=decode_address)
            await reader.send(batch)
            return _go_to(trail, batch[target])
        case AnalyseCode() | None:
            return trail


def learn(trail: ProxySearch, found: CodeAnalysis) -> ProxySearch:
    """Take the analysis of the last code: stop at code that does not delegate, or that
    implements a holder's functions itself; else go on."""
    here = msgspec.structs.replace(trail, found=found, wants=None)
    if not trail.hops:
        is_proxy = found.delegation.is_proxy
        here = msgspec.structs.replace(here, own=found, is_proxy=is_proxy)
    if found.delegation.is_proxy is False or found.answers_holders:
        return here
    return _search(here, found.delegation)


def _look_into(trail: ProxySearch, code: bytes) -> ProxySearch:
    if not code:
        return _lost(trail)
    return msgspec.structs.replace(trail, code=code, found=None, wants=AnalyseCode(code=code))


def _delegation(trail: ProxySearch) -> Delegation:
    return Delegation(is_proxy=None) if trail.found is None else trail.found.delegation


def _search(trail: ProxySearch, delegation: Delegation) -> ProxySearch:
    """Find the next target in the slots and addresses of the code, then in those of the
    standards."""
    unread = tuple(
        slot for slot in delegation.slots + delegation.beacon_slots if slot not in trail.words
    )
    if unread:
        return msgspec.structs.replace(trail, wants=ReadSlots(slots=unread))
    if delegation.targets:
        return _go_to(trail, delegation.targets[0])
    if delegation.beacons:
        return msgspec.structs.replace(trail, wants=ReadBeacon(beacon=delegation.beacons[0]))
    is_named = bool(delegation.slots or delegation.beacon_slots)
    target = _find_address(trail, delegation.slots if is_named else _WITHOUT_BEACON)
    beacon = _find_address(trail, delegation.beacon_slots if is_named else (BEACON_SLOT,))
    if target is None and beacon is not None:
        proxied = msgspec.structs.replace(trail, is_proxy=True) if not trail.hops else trail
        return msgspec.structs.replace(proxied, wants=ReadBeacon(beacon=beacon))
    if target is None and not is_named:
        target = trail.declared
    if target is None and delegation.is_proxy is None:
        return trail
    return _go_to(trail, target)


_WITHOUT_BEACON = (IMPLEMENTATION_SLOT, ZEPPELIN_SLOT, PROXIABLE_SLOT)


def _find_address(trail: ProxySearch, slots: Sequence[Hash32]) -> Address | None:
    """Return the first address in these slots; flags may share the word with it."""
    for slot in slots:
        address = address_of(trail.words[slot] & ADDRESS_MASK)
        if address not in (None, ZERO_ADDRESS):
            return address
    return None


def _go_to(trail: ProxySearch, target: Address | None) -> ProxySearch:
    seen = (trail.token, *trail.hops)
    if target is None or target == ZERO_ADDRESS or target in seen or len(seen) > _DEEPEST:
        return _lost(trail)
    proxied = msgspec.structs.replace(trail, is_proxy=True) if not trail.hops else trail
    return msgspec.structs.replace(proxied, wants=ReadCode(address=target))


def _lost(trail: ProxySearch) -> ProxySearch:
    """End the search without code."""
    return msgspec.structs.replace(trail, code=None, wants=None)
