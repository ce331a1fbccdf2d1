"""Search of platforms whose token list can only be read by index: one `eth_call` with a state
override iterates over it on the node.

It begins with the newest entry and ends when the gas does, so the oldest entries of a very long
list are not read. Source: probes/Walker.sol.
"""

import secrets
from collections.abc import Iterable
from typing import Literal

import msgspec

from analysis import probes
from analysis.launchpads.registries import told
from analysis.reads.eth_reads import WORD, NoAnswer, decode_uint
from config.launchpads import Catalogue, Launchpad
from core.abi import call_data, selector_of
from core.primitives import Address, Hash32
from core.rpc.messages import RpcAnswer, RpcRequest

_GAS = 15_000_000
"""Gas of one search: nodes with EIP-7825 refuse more than 2**24. Several hundred entries fit."""

Finding = Literal["listed", "absent", "unseen", "silent", "unread"]
"""absent: it is in no entry. unseen: in none of those that were read. silent: no such contract.
unread: the node failed, or does not support code overrides."""


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """Search of one list of one platform."""

    pad: Launchpad
    catalogue: Catalogue
    at: Address


def walks_through(pads: Iterable[Launchpad]) -> tuple[Walk, ...]:
    """Return a search of every list of these platforms."""
    return tuple(
        Walk(pad=pad, catalogue=pad.catalogue, at=at)
        for pad in pads
        if pad.catalogue is not None
        for at in pad.contracts
    )


def request(walk: Walk, token: Address, *, block: Hash32) -> RpcRequest:
    """Return the read that searches the list for the token, with `Walker.sol` at a random
    address."""
    stage = Address("0x" + secrets.token_hex(20))
    catalogue = walk.catalogue
    data = call_data(
        "find(address,bytes4,bytes4,uint256,address)",
        walk.at,
        bytes.fromhex(selector_of(catalogue.count)[2:]),
        bytes.fromhex(selector_of(catalogue.entry)[2:]),
        catalogue.token_word,
        token,
    )
    transaction = {"to": stage, "data": data, "gas": hex(_GAS)}
    code = {stage: {"code": probes.runtime("Walker")}}
    return RpcRequest("eth_call", (transaction, {"blockHash": block}, code))


def read(answer: RpcAnswer) -> Finding:
    """Decode the answer to `request`."""
    reply = told(answer)
    if isinstance(reply, str):
        return "unread"
    if isinstance(reply, NoAnswer):
        return "silent"
    found, left = decode_uint(reply), decode_uint(reply[WORD:])
    if found is None or left is None:
        return "unread"
    if found:
        return "listed"
    return "unseen" if left else "absent"
