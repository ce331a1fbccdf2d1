"""The address that a later read of a batch takes from an earlier answer."""

from analysis.reads.chain_reads import CallRead, CodeRead, ContractRead
from analysis.reads.eth_reads import decode_address, decode_uint
from analysis.reads.rpc_reads import NodeFault, ReadAnswer
from core.evm.primitives import ZERO_ADDRESS, Address, low_address

_LONGEST_CLONE = 128
_PUSH1, _PUSH32 = 0x60, 0x7F
_SHORTEST_ADDRESS, _LONGEST_ADDRESS = 14, 20


def address_in(read: ContractRead, answer: ReadAnswer) -> Address | None:
    """Return the address in the answer to a read. None: there is none, or it is zero.

    Of a call it is its `address_word`, of a storage slot its lower twenty bytes, of a short code
    the first address that it pushes. A fault of the node counts as none: reading the answer raises
    it.
    Source: probes/Reader.sol, which does the same inside a pack.
    """
    if isinstance(answer, NodeFault):
        return None
    if isinstance(read, CallRead):
        found = decode_address(answer, at=read.address_word)
    elif isinstance(read, CodeRead):
        found = pushed_address(answer) if isinstance(answer, bytes) else None
    else:
        word = decode_uint(answer)
        found = None if word is None else low_address(word)
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
