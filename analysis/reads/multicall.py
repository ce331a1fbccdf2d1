"""Multicall: reads as one eth_call through the probe contract Reader. Pure.

A decoded answer equals the node's answer to that read alone; where it may not (a gas limit was met,
an answer was cut), the read counts as not made. Source: probes/Reader.sol.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum

import msgspec

from analysis import probes
from analysis.reads.chain_reads import AnswerAddress, CallRead, CodeRead, ContractRead, SlotRead
from analysis.reads.eth_reads import WORD, NoAnswer, Reply, read_reply
from analysis.reads.revert_reason import decode_revert
from core.errors import UpstreamError
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
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
_DELEGATED = b"\xef"


_CALL, _CODE, _SLOT = range(3)
"""Kinds of a step."""


class ReadStatus(IntEnum):
    """Result status of a step."""

    FAILED = 0
    OK = 1
    STARVED = 2
    CUT = 3
    NOT_RUN = 4


class PackStep(msgspec.Struct, frozen=True, kw_only=True):
    """One read in a pack."""

    read: ContractRead
    source: int | None = None
    """Index in the pack of the earlier step whose address is put in. None: none is."""
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
    steps: Sequence[PackStep],
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


def reply_of(step: PackStep, result: ReadResult) -> Reply | None:
    """Return the node's reply to this read alone. None: the pack does not show it.

    Code that begins with EF is an account's delegation (EIP-7702), of which some EVMs show a
    contract another form than JSON-RPC.
    """
    if isinstance(step.read, CodeRead) and result.data.startswith(_DELEGATED):
        return None
    is_cut = result.status is ReadStatus.CUT and step.first_bytes is not None
    if result.status is ReadStatus.OK or is_cut:
        return result.data
    if result.status is ReadStatus.FAILED:
        return NoAnswer(reason=decode_revert(result.data, "execution reverted"))
    return None


def fits(steps: Sequence[PackStep]) -> bool:
    """True if the steps fit in one pack."""
    return len(steps) <= _MOST_STEPS


def _encode(steps: Sequence[PackStep]) -> bytes:
    return len(steps).to_bytes(2) + b"".join(map(_encode_step, steps))


def _encode_step(step: PackStep) -> bytes:
    most = _MOST_BYTES if step.first_bytes is None else step.first_bytes
    kind, subject, offset, data = _fields(step.read)
    return b"".join(
        (
            kind.to_bytes(1),
            (_NONE if step.source is None else step.source).to_bytes(2),
            offset.to_bytes(2),
            READ_GAS.to_bytes(4),
            most.to_bytes(3),
            bytes.fromhex(subject[2:]),
            len(data).to_bytes(2),
            data,
        )
    )


def _fields(read: ContractRead) -> tuple[int, Address, int, bytes]:
    """Return kind, subject, offset of the address argument, and data. A subject that an earlier
    step supplies is zero here."""
    match read:
        case CodeRead(address=subject):
            return _CODE, _known(subject), _NONE, b""
        case SlotRead(contract=contract, slot=slot):
            return _SLOT, contract, _NONE, bytes.fromhex(slot[2:])
        case CallRead(to=subject, argument=argument, data=data):
            offset = argument.offset if argument else _NONE
            return _CALL | read.address_word << 4, _known(subject), offset, data


def _known(address: Address | AnswerAddress | None) -> Address:
    return ZERO_ADDRESS if address is None or isinstance(address, AnswerAddress) else address


def _decode(reply: bytes, count: int) -> tuple[ReadIdentity, list[ReadResult]]:
    """Raises ValueError, IndexError for bytes that Reader cannot return."""
    number, time_s, parent, proposer = (
        reply[start : start + WORD] for start in range(0, _IDENTITY_BYTES, WORD)
    )
    at, results = _IDENTITY_BYTES, []
    for _ in range(count):
        status, length = ReadStatus(reply[at]), int.from_bytes(reply[at + 1 : at + _ENTRY_BYTES])
        at += _ENTRY_BYTES + length
        results.append(ReadResult(status=status, data=reply[at - length : at]))
    if at != len(reply):
        raise ValueError(at)
    identity = ReadIdentity(
        number=int.from_bytes(number),
        time_s=int.from_bytes(time_s),
        parent_hash=Hash32("0x" + parent.hex()),
        proposer=Address("0x" + proposer[12:].hex()),
    )
    return identity, results
