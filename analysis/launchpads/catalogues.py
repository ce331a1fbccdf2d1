"""Platforms whose list of tokens can only be asked by number: one call walks it on the node.

The walk begins with the newest entry and ends where the gas does, so of a very long list the oldest
entries stay unseen. Source: probes/Walker.sol.
"""

import secrets
from collections.abc import Iterable
from typing import Literal

import msgspec

from analysis import probes
from analysis.launchpads.registries import told
from analysis.reads.abi_encoding import call_data, selector_of
from analysis.reads.eth_reads import WORD, NoAnswer, decode_uint
from config.jsonrpc import RpcAnswer, RpcRequest
from config.launchpads import Catalogue, Launchpad
from config.primitives import Address, Hash32

_GAS = 15_000_000
"""Of one walk: nodes with EIP-7825 refuse more than 2**24. Several hundred entries fit."""

Finding = Literal["listed", "absent", "unseen", "silent", "unread"]
"""absent: it is in no entry. unseen: in none of those that could be looked at. silent: no such
contract. unread: the node failed, or puts no code of ours on its stage."""


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """One list of one platform."""

    pad: Launchpad
    catalogue: Catalogue
    at: Address


def walks_through(pads: Iterable[Launchpad]) -> tuple[Walk, ...]:
    """Every list of these platforms."""
    return tuple(
        Walk(pad=pad, catalogue=pad.catalogue, at=at)
        for pad in pads
        if pad.catalogue is not None
        for at in pad.contracts
    )


def request(walk: Walk, token: Address, *, block: Hash32) -> RpcRequest:
    """The question whether the list names the token."""
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
    """What the answer to `request` means."""
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
