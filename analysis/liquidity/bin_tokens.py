"""Shares of bins as tokens, many kinds in one contract: their transfers and balances.

Source: joe-v2 ILBToken; infinity-periphery IBinFungibleToken, which has the same event and getter.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from analysis.reads.chain_reads import Handle
from analysis.reads.eth_reads import WORD, Log, NoAnswer, Reply
from analysis.reads.read_batch import ReadBatch
from core.evm.abi import topic_of
from core.evm.primitives import Address

TRANSFER_BATCH: Final = topic_of("TransferBatch(address,address,address,uint256[],uint256[])")

MOST_HOLDERS: Final = 60
"""Holders whose balances are read, largest first."""

MOST_BINS: Final = 300
"""Bins of one pool that are read."""

BIN_NUMBERS: Final = 2**24
"""Bins that a pool can have."""

_TOPICS: Final = 4


class BinTransfer(msgspec.Struct, frozen=True, kw_only=True):
    """A transfer of shares. Minted ones come from the zero address, redeemed ones go there."""

    sender: Address
    receiver: Address
    moved: tuple[tuple[int, int], ...]
    """Token ids and amounts."""


def decode_transfer(log: Log) -> BinTransfer | None:
    """Return the transfer. None: the log is something else, or malformed."""
    if len(log.topics) != _TOPICS or log.topics[0] != TRANSFER_BATCH:
        return None
    arrays = decode_arrays(bytes.fromhex(log.data.removeprefix("0x")), at=(0, 1))
    if arrays is None or len(arrays[0]) != len(arrays[1]):
        return None
    sender, receiver = (Address("0x" + topic[-40:]) for topic in log.topics[2:])
    return BinTransfer(sender=sender, receiver=receiver, moved=tuple(zip(*arrays, strict=True)))


def decode_arrays(data: bytes, *, at: Sequence[int]) -> list[tuple[int, ...]] | None:
    """Return the arrays of words whose offsets are the words with these indices. None: the data is
    malformed; offsets and lengths are only compared with it, so absurd ones cost nothing."""
    found: list[tuple[int, ...]] = []
    for index in at:
        start = _word(data, index * WORD)
        count = None if start is None else _word(data, start)
        if start is None or count is None or start + (1 + count) * WORD > len(data):
            return None
        first = start + WORD
        found.append(
            tuple(
                int.from_bytes(data[place : place + WORD])
                for place in range(first, first + count * WORD, WORD)
            )
        )
    return found


def _word(data: bytes, place: int) -> int | None:
    return int.from_bytes(data[place : place + WORD]) if place + WORD <= len(data) else None


class BinBalances:
    """Reads of the shares of accounts, one call per account."""

    def __init__(self, tokens: Address, token_id: Callable[[int], int]) -> None:
        """`tokens`: contract of the shares. `token_id`: id of the shares of a bin."""
        self._tokens, self._token_id = tokens, token_id
        self._reads: list[tuple[Address, tuple[int, ...], ReadBatch, Handle[Reply]]] = []

    def request(self, batch: ReadBatch, holder: Address, bins: Iterable[int]) -> None:
        """Add the read of a holder's shares of these bins."""
        numbers = tuple(bins)
        ids = [self._token_id(one) for one in numbers]
        signature = "balanceOfBatch(address[],uint256[])"
        handle = batch.call(self._tokens, signature, [holder] * len(ids), ids)
        self._reads.append((holder, numbers, batch, handle))

    def named(self) -> Sequence[Address]:
        """Return the accounts whose shares are read."""
        return [holder for holder, *_ in self._reads]

    def read(self) -> dict[tuple[Address, int], int]:
        """Decode the shares by holder and bin. A call without an answer counts as none.

        Raises UpstreamError.
        """
        found: dict[tuple[Address, int], int] = {}
        for holder, bins, batch, handle in self._reads:
            reply = batch[handle]
            arrays = None if isinstance(reply, NoAnswer) else decode_arrays(reply, at=(0,))
            if arrays is not None and len(arrays[0]) == len(bins):
                found |= {(holder, at): count for at, count in zip(bins, arrays[0], strict=True)}
        return {key: shares for key, shares in found.items() if shares}
