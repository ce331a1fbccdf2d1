"""Proxy resolution: finds the code that runs at a token's address, its own or an implementation's.

The token's code decides whether it is a proxy and where its implementation is
(`static/dataflow/delegate_targets`); the standard slots and EIP-897 help where it cannot be
followed. Storage is always the token's: an implementation that delegates on still runs on it.
Bound: `_DEEPEST` implementations.
"""

from collections.abc import Sequence

import msgspec
from eth_hash.auto import keccak

from analysis.reads.eth_reads import (
    call,
    code_at,
    decode_address,
    read_code,
    read_reply,
    read_word,
    word_at,
)
from analysis.static.analyse_code import CodeAnalysis
from analysis.static.dataflow.delegate_targets import Delegation
from core.primitives import ADDRESS_MASK, ZERO_ADDRESS, Address, Hash32, address_of, to_hash32
from core.rpc.messages import RpcAnswer, RpcRequest


def _slot(label: str, *, minus_one: bool) -> Hash32:
    return to_hash32(int.from_bytes(keccak(label.encode())) - minus_one)


IMPLEMENTATION_SLOT = _slot("eip1967.proxy.implementation", minus_one=True)
"""EIP-1967: the hash less one, so that no known preimage leads to it."""

BEACON_SLOT = _slot("eip1967.proxy.beacon", minus_one=True)
"""EIP-1967: the contract whose `implementation()` is called."""

ZEPPELIN_SLOT = _slot("org.zeppelinos.proxy.implementation", minus_one=False)
"""Proxies of OpenZeppelin's ZeppelinOS, before EIP-1967."""

PROXIABLE_SLOT = _slot("PROXIABLE", minus_one=False)
"""EIP-1822."""

STANDARD_SLOTS = (IMPLEMENTATION_SLOT, BEACON_SLOT, ZEPPELIN_SLOT, PROXIABLE_SLOT)

_DEEPEST = 4
"""Nested implementations that are followed."""

_GETTER = "implementation()"
"""EIP-897, and the getter of a beacon."""


class CodeOf(msgspec.Struct, frozen=True, kw_only=True):
    """Next step: read the code of an implementation."""

    address: Address


class FactsOf(msgspec.Struct, frozen=True, kw_only=True):
    """Next step: analyse this code. No read."""

    code: bytes


class WordsAt(msgspec.Struct, frozen=True, kw_only=True):
    """Next step: read slots of the token that the code names."""

    slots: tuple[Hash32, ...]


class AskBeacon(msgspec.Struct, frozen=True, kw_only=True):
    """Next step: read a beacon's implementation."""

    beacon: Address


class Trail(msgspec.Struct, frozen=True, kw_only=True):
    """State of the search for the code behind a token."""

    token: Address
    is_proxy: bool | None
    """Of the token's own address. None: its code could not be followed, and no slot helps."""
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
    wants: CodeOf | FactsOf | WordsAt | AskBeacon | None = None
    """The next step. None: the search has ended."""

    @property
    def implementation(self) -> Address | None:
        """Return the address of the analysed code. None: the token itself, or not found."""
        return self.hops[-1] if self.hops and self.code is not None else None


def first_requests(token: Address, *, block: Hash32) -> tuple[RpcRequest, ...]:
    """Return the reads made of every token, so that most need no second round."""
    slots = (word_at(token, slot, block=block) for slot in STANDARD_SLOTS)
    return (*slots, call(token, _GETTER, block=block))


def beacon_requests(beacon: Address, *, block: Hash32) -> tuple[RpcRequest, ...]:
    """Return the read of a beacon's implementation."""
    return (call(beacon, _GETTER, block=block),)


def begin(token: Address, *, code: bytes, answers: Sequence[RpcAnswer]) -> Trail:
    """Start from the token's own code and the answers to `first_requests`.

    Raises UpstreamError.
    """
    *slots, getter = answers
    words = map(read_word, slots)
    trail = Trail(
        token=token,
        is_proxy=None,
        code=code,
        words=dict(zip(STANDARD_SLOTS, words, strict=True)),
        declared=decode_address(read_reply(getter)),
    )
    return _look_into(trail, code)


def requests(trail: Trail, *, block: Hash32) -> tuple[RpcRequest, ...]:
    """Return the reads of the next step; empty at the end."""
    match trail.wants:
        case CodeOf(address=address):
            return (code_at(address, block=block),)
        case WordsAt(slots=slots):
            return tuple(word_at(trail.token, slot, block=block) for slot in slots)
        case AskBeacon(beacon=beacon):
            return beacon_requests(beacon, block=block)
        case FactsOf() | None:
            return ()


def read(trail: Trail, answers: Sequence[RpcAnswer]) -> Trail:
    """Take the answers to `requests`. Raises UpstreamError."""
    match trail.wants:
        case CodeOf(address=address):
            found = msgspec.structs.replace(trail, hops=(*trail.hops, address), wants=None)
            return _look_into(found, read_code(answers[0]))
        case WordsAt(slots=slots):
            words = dict(zip(slots, map(read_word, answers), strict=True))
            known = msgspec.structs.replace(trail, words=trail.words | words)
            return _search(known, _delegation(trail))
        case AskBeacon():
            return _go_to(trail, decode_address(read_reply(answers[0])))
        case FactsOf() | None:
            return trail


def learn(trail: Trail, found: CodeAnalysis) -> Trail:
    """Take the analysis of a FactsOf's code: stop at code that does not delegate, or that
    implements a holder's functions itself; else go on."""
    here = msgspec.structs.replace(trail, found=found, wants=None)
    if not trail.hops:
        is_proxy = found.delegation.is_proxy
        here = msgspec.structs.replace(here, own=found, is_proxy=is_proxy)
    if found.delegation.is_proxy is False or found.answers_holders:
        return here
    return _search(here, found.delegation)


def _look_into(trail: Trail, code: bytes) -> Trail:
    if not code:
        return _lost(trail)
    return msgspec.structs.replace(trail, code=code, found=None, wants=FactsOf(code=code))


def _delegation(trail: Trail) -> Delegation:
    return Delegation(is_proxy=None) if trail.found is None else trail.found.delegation


def _search(trail: Trail, delegation: Delegation) -> Trail:
    """Find the next target in the slots and addresses of the code, then in those of the
    standards."""
    unread = tuple(
        slot for slot in delegation.slots + delegation.beacon_slots if slot not in trail.words
    )
    if unread:
        return msgspec.structs.replace(trail, wants=WordsAt(slots=unread))
    if delegation.targets:
        return _go_to(trail, delegation.targets[0])
    if delegation.beacons:
        return msgspec.structs.replace(trail, wants=AskBeacon(beacon=delegation.beacons[0]))
    is_named = bool(delegation.slots or delegation.beacon_slots)
    target = _held(trail, delegation.slots if is_named else _WITHOUT_BEACON)
    beacon = _held(trail, delegation.beacon_slots if is_named else (BEACON_SLOT,))
    if target is None and beacon is not None:
        proxied = msgspec.structs.replace(trail, is_proxy=True) if not trail.hops else trail
        return msgspec.structs.replace(proxied, wants=AskBeacon(beacon=beacon))
    if target is None and not is_named:
        target = trail.declared
    if target is None and delegation.is_proxy is None:
        return trail
    return _go_to(trail, target)


_WITHOUT_BEACON = (IMPLEMENTATION_SLOT, ZEPPELIN_SLOT, PROXIABLE_SLOT)


def _held(trail: Trail, slots: Sequence[Hash32]) -> Address | None:
    """Return the first address in these slots; flags may share the word with it."""
    for slot in slots:
        held = address_of(trail.words[slot] & ADDRESS_MASK)
        if held not in (None, ZERO_ADDRESS):
            return held
    return None


def _go_to(trail: Trail, target: Address | None) -> Trail:
    seen = (trail.token, *trail.hops)
    if target is None or target == ZERO_ADDRESS or target in seen or len(seen) > _DEEPEST:
        return _lost(trail)
    proxied = msgspec.structs.replace(trail, is_proxy=True) if not trail.hops else trail
    return msgspec.structs.replace(proxied, wants=CodeOf(address=target))


def _lost(trail: Trail) -> Trail:
    """End the search without code."""
    return msgspec.structs.replace(trail, code=None, wants=None)
