"""Search of platforms' token lists that can only be read by index.

One `eth_call` with a state override iterates over the list on the node.

It begins with the newest entry and ends when the gas does, so the oldest entries of a very long
list are not read. Source: probes/Walker.sol.
"""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from analysis import probes
from analysis.launchpads.registries import reply_to
from analysis.reads.chain_reads import CallRead, call_of
from analysis.reads.eth_reads import WORD, NoAnswer, decode_uint
from analysis.reads.read_batch import ReadBatch
from config.facts.launchpad import Catalogue, Launchpad
from core.evm.abi import selector_of, topic_of
from core.evm.primitives import Address, low_address

_GAS = 15_000_000
"""Gas of one search: nodes with EIP-7825 refuse more than 2**24. Several hundred entries fit."""

_WALKER: Final = low_address(int(topic_of("Walker"), 16))
"""Address of the probe contract. Constant, so that recorded analyses replay. It calls contracts of
configured platforms only."""

Finding = Literal["listed", "absent", "unseen", "silent", "unread"]
"""absent: it is in no entry. unseen: in none of those that were read. silent: no such contract.
unread: the node failed, or does not support code overrides."""


class CatalogueSearch(msgspec.Struct, frozen=True, kw_only=True):
    """Search of one list of one platform."""

    pad: Launchpad
    catalogue: Catalogue
    at: Address


def walks_through(pads: Iterable[Launchpad]) -> tuple[CatalogueSearch, ...]:
    """Return a search of every list of these platforms."""
    return tuple(
        CatalogueSearch(pad=pad, catalogue=pad.catalogue, at=at)
        for pad in pads
        if pad.catalogue is not None
        for at in pad.contracts
    )


class CatalogueRead:
    """The read that searches a list for the token, by `Walker.sol`."""

    def __init__(self, batch: ReadBatch, walk: CatalogueSearch, token: Address) -> None:
        self._batch = batch
        self._reply = batch.add(_search(walk, token))

    def read(self) -> Finding:
        """Decode the answer."""
        reply = reply_to(self._batch, self._reply)
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


def _search(walk: CatalogueSearch, token: Address) -> CallRead:
    catalogue = walk.catalogue
    search = call_of(
        _WALKER,
        "find(address,bytes4,bytes4,uint256,address)",
        walk.at,
        bytes.fromhex(selector_of(catalogue.count)[2:]),
        bytes.fromhex(selector_of(catalogue.entry)[2:]),
        catalogue.token_word,
        token,
    )
    return msgspec.structs.replace(search, gas=_GAS, code=probes.runtime("Walker"))
