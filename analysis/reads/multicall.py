"""Multicall: encodes many reads as one eth_call through the probe contract Reader. Pure.

A decoded answer equals the node's answer to that read alone; where it may not (a gas limit was met,
an answer was cut), the read counts as not made. Source: probes/Reader.sol.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum

import msgspec

from analysis import probes
from analysis.reads.eth_reads import WORD, decode_address, decode_uint, read_reply
from core.errors import UpstreamError
from core.primitives import ZERO_ADDRESS, Address, Hash32, low_address
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

PACK_GAS = 15_000_000
"""Gas of one pack: nodes with EIP-7825 reject more than 2**24."""

READ_GAS = 600_000
"""Gas of one call in a pack: several times what honest reads need, and little enough that a token
that burns all of it leaves enough for the others. A read that ran out of it is repeated alone."""

_MOST_BYTES = 2**16
"""Bytes of one answer: more than the longest code."""

_MOST_STEPS = 4_000
"""Steps of one pack: more than a chain with thirty exchanges needs for one token."""

_NONE = 0xFFFF
_IDENTITY_BYTES = 4 * WORD
_ENTRY_BYTES = 4
_LONGEST_CLONE = 128
_PUSH1, _PUSH32 = 0x60, 0x7F
_SHORTEST_ADDRESS, _LONGEST_ADDRESS = 14, 20
_DELEGATED = b"\xef"


class ReadKind(IntEnum):
    """Kind of a step: a call, an address's code, or a storage slot."""

    CALL = 0
    CODE = 1
    WORD = 2


class ReadStatus(IntEnum):
    """Result status of a step."""

    FAILED = 0
    OK = 1
    STARVED = 2
    CUT = 3
    NOT_RUN = 4


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """One read in a pack."""

    kind: ReadKind
    to: Address
    """Of a call or a code. Of a storage slot: its contract."""
    data: bytes = b""
    ref: int | None = None
    """Index in the pack of the earlier step whose address is inserted. None: none is."""
    place: int | None = None
    """Offset in `data` of the word that the address replaces. None: it replaces `to`."""
    first_bytes: int | None = None
    """Bytes of the answer to return. None: all of it."""


class ReadIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """The block a pack was run on, as the EVM shows it."""

    number: int
    time_s: int
    parent_hash: Hash32
    proposer: Address


class ReadResult(msgspec.Struct, frozen=True, kw_only=True):
    """Status and returned bytes of one step."""

    status: ReadStatus
    data: bytes


def pack_request(
    steps: Sequence[Read],
    *,
    at: Address,
    block: object,
    overrides: Mapping[Address, object],
) -> RpcRequest:
    """Return the eth_call that makes the steps, with the code of Reader overridden at the address
    `at`."""
    transaction = {"to": at, "data": "0x" + _encode(steps).hex(), "gas": hex(PACK_GAS)}
    state = {**overrides, at: {"code": probes.runtime("Reader")}}
    return RpcRequest("eth_call", (transaction, block, state))


def read_pack(answer: RpcAnswer, *, count: int) -> tuple[ReadIdentity, list[ReadResult]] | None:
    """Decode the answer. None: the node rejected the call, ignored the code override, or answered
    otherwise."""
    if isinstance(answer, RpcFault):
        return None
    try:
        reply = read_reply(answer)
        return _decode(reply, count) if isinstance(reply, bytes) else None
    except (UpstreamError, ValueError, IndexError):
        return None


def answer_of(step: Read, told: ReadResult) -> RpcAnswer | None:
    """Return the node's answer to this read alone. None: not known from the pack.

    Code that begins with EF is an account's delegation (EIP-7702), which some EVMs show to a
    contract otherwise than over JSON-RPC.
    """
    if step.kind is ReadKind.CODE and told.data.startswith(_DELEGATED):
        return None
    if told.status is ReadStatus.OK or (
        told.status is ReadStatus.CUT and step.first_bytes is not None
    ):
        return msgspec.Raw(f'"0x{told.data.hex()}"'.encode())
    if told.status is ReadStatus.FAILED:
        return RpcFault(code=3, message="execution reverted", data="0x" + told.data.hex())
    return None


def address_in(step: Read, answer: RpcAnswer) -> Address | None:
    """Return the address that a later step takes from this one. None: there is none in it.

    Of a call it is the returned word, of a storage slot its lower twenty bytes, of a short code the
    first address that it pushes. A fault of the node counts as none: reading the answer will raise
    it.
    """
    try:
        reply = read_reply(answer)
    except UpstreamError:
        return None
    found: Address | None
    if step.kind is ReadKind.CALL:
        found = decode_address(reply)
    elif step.kind is ReadKind.WORD:
        word = decode_uint(reply)
        found = None if word is None else low_address(word)
    else:
        found = pushed_address(reply) if isinstance(reply, bytes) else None
    return None if found == ZERO_ADDRESS else found


def pushed_address(code: bytes) -> Address | None:
    """Return the first address that a short code pushes: the target of a minimal proxy.

    Some are pushed without their leading zeros. None: it pushes none, or is too long for a clone.
    """
    if len(code) > _LONGEST_CLONE:
        return None
    at = 0
    while at < len(code):
        op, at = code[at], at + 1
        if _PUSH1 <= op <= _PUSH32:
            size = op - _PUSH1 + 1
            operand = code[at : at + size]
            if _SHORTEST_ADDRESS <= size <= _LONGEST_ADDRESS and len(operand) == size:
                return Address("0x" + operand.hex().rjust(40, "0"))
            at += size
    return None


def fits(steps: Sequence[Read]) -> bool:
    """True if one pack may have so many steps."""
    return len(steps) <= _MOST_STEPS


def _encode(steps: Sequence[Read]) -> bytes:
    return len(steps).to_bytes(2) + b"".join(map(_encode_step, steps))


def _encode_step(step: Read) -> bytes:
    most = _MOST_BYTES if step.first_bytes is None else step.first_bytes
    return b"".join(
        (
            int(step.kind).to_bytes(1),
            (_NONE if step.ref is None else step.ref).to_bytes(2),
            (_NONE if step.place is None else step.place).to_bytes(2),
            READ_GAS.to_bytes(4),
            most.to_bytes(3),
            bytes.fromhex(step.to[2:]),
            len(step.data).to_bytes(2),
            step.data,
        )
    )


def _decode(reply: bytes, count: int) -> tuple[ReadIdentity, list[ReadResult]]:
    """Raises ValueError, IndexError for bytes that Reader cannot return."""
    number, time_s, parent, proposer = (
        reply[start : start + WORD] for start in range(0, _IDENTITY_BYTES, WORD)
    )
    at, told = _IDENTITY_BYTES, []
    for _ in range(count):
        status, length = ReadStatus(reply[at]), int.from_bytes(reply[at + 1 : at + _ENTRY_BYTES])
        at += _ENTRY_BYTES + length
        told.append(ReadResult(status=status, data=reply[at - length : at]))
    if at != len(reply):
        raise ValueError(at)
    identity = ReadIdentity(
        number=int.from_bytes(number),
        time_s=int.from_bytes(time_s),
        parent_hash=Hash32("0x" + parent.hex()),
        proposer=Address("0x" + proposer[12:].hex()),
    )
    return identity, told
