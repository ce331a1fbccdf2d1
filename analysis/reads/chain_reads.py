"""Reads of contracts: a call, a code, or a storage slot. Their block is that of their batch.

The address of a read, or one address among the arguments of a call, may be the one in the answer to
an earlier read of the same batch.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from analysis.reads.eth_reads import CALL_GAS, WORD, Reply
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
from core.rpc.messages import RpcAnswer

T_co = TypeVar("T_co", covariant=True)

_SELECTOR_BYTES = 4


class Handle(msgspec.Struct, Generic[T_co], frozen=True):
    """A read of a batch, by which its decoded answer is looked up."""

    index: int
    returns: Callable[[Reply], T_co]


class RequestHandle(msgspec.Struct, Generic[T_co], frozen=True):
    """A request of a batch that is no read of a contract, by which its answer is looked up."""

    index: int
    returns: Callable[[RpcAnswer], T_co]


class AnswerAddress(msgspec.Struct, frozen=True):
    """The address in the answer to an earlier read of the same batch.

    Of a call it is the returned word at its `address_word`, of a storage slot its lower twenty
    bytes, of a short code the first address that it pushes.
    """

    read: Handle[object]


class AddressArgument(msgspec.Struct, frozen=True, kw_only=True):
    """An argument of a call that an earlier answer supplies."""

    address: AnswerAddress
    offset: int
    """Byte of the calldata at which the argument's word begins."""


class CallRead(msgspec.Struct, frozen=True, kw_only=True):
    """A call from the zero address, of which nothing remains."""

    to: Address | AnswerAddress | None
    """None: `data` is creation code, and the answer is its result."""
    data: bytes
    argument: AddressArgument | None = None
    """Replaces a word of `data`."""
    address_word: int = 0
    """Index of the returned word that an AnswerAddress is taken from, at most 15."""
    gas: int = CALL_GAS
    storage: tuple[tuple[Hash32, Hash32], ...] = ()
    """Slots of `to`, and the values that they have during the call."""
    code: str | None = None
    """0x code that `to` has during the call. None: its own."""


class CodeRead(msgspec.Struct, frozen=True, kw_only=True):
    """A read of the runtime code of an address."""

    address: Address | AnswerAddress


class SlotRead(msgspec.Struct, frozen=True, kw_only=True):
    """A read of one storage slot of a contract."""

    contract: Address
    slot: Hash32


ContractRead = CallRead | CodeRead | SlotRead


def call_of(to: Address | AnswerAddress, signature: str, *arguments: object) -> CallRead:
    """Return a call of `name(type,...)`.

    One argument may be an AnswerAddress; the ones before it must be of one word each.
    """
    known = [ZERO_ADDRESS if isinstance(one, AnswerAddress) else one for one in arguments]
    data = bytes.fromhex(call_data(signature, *known)[2:])
    awaited = [
        AddressArgument(address=one, offset=_SELECTOR_BYTES + WORD * at)
        for at, one in enumerate(arguments)
        if isinstance(one, AnswerAddress)
    ]
    if not awaited:
        return CallRead(to=to, data=data)
    [argument] = awaited
    return CallRead(to=to, data=data, argument=argument)


def source_of(read: ContractRead) -> AnswerAddress | None:
    """Return the earlier answer that the read takes an address from. None: it needs none."""
    match read:
        case CallRead(to=AnswerAddress() as source) | CodeRead(address=AnswerAddress() as source):
            return source
        case CallRead(argument=AddressArgument(address=source)):
            return source
    return None


def with_address(read: ContractRead, address: Address) -> ContractRead:
    """Return the read with the address that `source_of` names put in."""
    match read:
        case CallRead(to=AnswerAddress()):
            return msgspec.structs.replace(read, to=address)
        case CodeRead(address=AnswerAddress()):
            return CodeRead(address=address)
        case CallRead(argument=AddressArgument(offset=offset)):
            word = bytes.fromhex(address[2:]).rjust(WORD, b"\0")
            data = read.data[:offset] + word + read.data[offset + WORD :]
            return msgspec.structs.replace(read, data=data, argument=None)
    return read
