"""Holders of the bins of a PancakeSwap Infinity pool.

The manager's Mint events name the contract that holds shares of bins, and a salt. The exchange's
position manager turns its shares into tokens, whose ids are hashes of pool and bin, and mints them
in the same block; receivers may transfer them. Its events in those blocks name the first holders,
transfers from these the next ones, and balances are read now. Shares that were transferred again
are unaccounted. Source: infinity-core IBinPoolManager; infinity-periphery BinPositionManager,
BinFungibleToken, BinTokenLibrary.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from analysis.liquidity.bin_holdings import BinReserves, BinValue, gather_bins
from analysis.liquidity.bin_tokens import (
    BIN_NUMBERS,
    MOST_BINS,
    MOST_HOLDERS,
    TRANSFER_BATCH,
    BinBalances,
    BinTransfer,
    decode_arrays,
    decode_transfer,
)
from analysis.liquidity.holdings import (
    HISTORY_REFUSED,
    HoldingReads,
    Part,
    PoolHoldings,
    ReadRound,
    log_query,
)
from analysis.liquidity.pool_history import PoolHistory, PoolSpan
from analysis.reads.chain_reads import Handle, RequestHandle
from analysis.reads.eth_reads import (
    WORD,
    Log,
    MinedLog,
    NoAnswer,
    Reply,
    decode_logs,
    decode_mined_logs,
    decode_uint,
)
from analysis.reads.read_batch import ReadBatch
from core.evm.abi import address_word, topic_of
from core.evm.keccak import keccak
from core.evm.primitives import ZERO_ADDRESS, Address

MOST_BLOCKS: Final = 40
"""Blocks that are searched for first holders, those of the largest mints first."""

MOST_OTHERS: Final = 60
"""Most shares of other contracts than the position manager that are read."""

_MINT: Final = topic_of("Mint(bytes32,address,uint256[],bytes32,bytes32[],bytes32,bytes32)")
_KEY_WORDS: Final = 6
_HALF: Final = 128
"""Bits of the first amount in a packed pair. Source: infinity-core PackedUint128Math."""


class _Mint(msgspec.Struct, frozen=True, kw_only=True):
    minter: Address
    salt: bytes
    amounts: tuple[tuple[int, int, int], ...]
    """Bin number, and the amounts of the first and second token."""
    block: int


_Other = tuple[Address, bytes, int]
"""Contract, salt, bin."""


class EntryBins(HoldingReads):
    """Reads of one pool."""

    def __init__(self, span: PoolSpan, value: BinValue) -> None:
        self._span, self._pool, self._value = span, span.pool, value
        self._id = bytes.fromhex(span.pool.key[2:])
        self._manager = span.pool.dex.position_manager or ZERO_ADDRESS
        self._balances = BinBalances(self._manager, self._token_id)
        self._history: PoolHistory[MinedLog]
        self._key: tuple[ReadBatch, Handle[Reply]]
        self._minted: tuple[ReadBatch, list[RequestHandle[tuple[Log, ...] | None]]]
        self._bins: dict[int, tuple[ReadBatch, Handle[Reply]]] = {}
        self._others: dict[_Other, tuple[ReadBatch, Handle[int | None]]] = {}
        self._passed: PoolHistory[Log] | None = None
        self._named: dict[Address, set[int]] = {}
        self._gap = ""

    def rounds(self) -> tuple[ReadRound, ...]:
        """Return the four rounds."""
        return (
            self._request_mints,
            self._request_bins,
            self._request_balances,
            self._request_receivers,
        )

    def _request_mints(self, batch: ReadBatch) -> None:
        self._history = self._span.request(
            batch,
            [_MINT, self._pool.key],
            returns=decode_mined_logs,
        )
        key = batch.call(self._pool.dex.factory, "poolIdToPoolKey(bytes32)", self._id)
        self._key = batch, key

    def _request_bins(self, batch: ReadBatch) -> None:
        """Add the reserves of the largest bins, and the shares of other contracts.

        Also adds the position manager's events in the blocks of its mints. Raises UpstreamError.
        """
        if not self._history.is_whole:
            self._gap = HISTORY_REFUSED
        token_is_x = self._pool.token_is_0
        worth = defaultdict[int, float](float)
        decoded = map(_decode_mint, self._history.read())
        mints = [mint for mint in decoded if mint is not None]
        for mint in mints:
            for at, x, y in mint.amounts:
                worth[at] += self._value.of(x, y, token_is_x=token_is_x)
        for at in sorted(worth, key=lambda at: -worth[at])[:MOST_BINS]:
            read = batch.call(self._pool.dex.factory, "getBin(bytes32,uint24)", self._id, at)
            self._bins[at] = batch, read
        ordered = sorted(mints, key=lambda mint: -sum(worth[at] for at, _, _ in mint.amounts))
        managed = (mint.block for mint in ordered if mint.minter == self._manager)
        blocks = list(dict.fromkeys(managed))
        others: dict[_Other, None] = dict.fromkeys(
            (mint.minter, mint.salt, at)
            for mint in ordered
            if mint.minter != self._manager
            for at, _, _ in mint.amounts
            if at in self._bins
        )
        if len(blocks) > MOST_BLOCKS or len(others) > MOST_OTHERS:
            self._gap = "small mints are not read"
        for minter, salt, at in list(others)[:MOST_OTHERS]:
            signature = "getPosition(bytes32,address,uint24,bytes32)"
            arguments = self._id, minter, at, salt
            read_share = batch.call(
                self._pool.dex.factory, signature, *arguments, returns=decode_uint
            )
            self._others[minter, salt, at] = batch, read_share
        topics = [TRANSFER_BATCH, None, "0x" + "0" * (2 * WORD)]
        self._minted = (
            batch,
            [
                batch.request(
                    log_query(self._manager, topics, from_block=at, to_block=at),
                    returns=decode_logs,
                )
                for at in blocks[:MOST_BLOCKS]
            ],
        )

    def _request_balances(self, batch: ReadBatch) -> None:
        """Add the balances of the first holders, and their transfers. Raises UpstreamError."""
        before, handles = self._minted
        minted = [before[handle] for handle in handles]
        if None in minted:
            self._gap = "the node does not give the events of the position manager"
        logs = [log for each in minted for log in each or ()]
        self._named = self._receivers(logs, minted=True)
        self._request_named(batch, self._named)
        if not self._named:
            return
        senders = [address_word(holder) for holder in self._named]
        self._passed = self._span.request(
            batch,
            [TRANSFER_BATCH, None, senders],
            address=self._manager,
            returns=decode_logs,
        )

    def _request_receivers(self, batch: ReadBatch) -> None:
        """Add the balances of receivers of transferred shares. Raises UpstreamError."""
        if self._passed is None:
            return
        if not self._passed.is_whole:
            self._gap = "the node does not give all transfers of shares"
        received = self._receivers(self._passed.read(), minted=False)
        fresh = {holder: bins - self._named.get(holder, set()) for holder, bins in received.items()}
        self._request_named(batch, {holder: bins for holder, bins in fresh.items() if bins})

    def named(self) -> Sequence[Address]:
        """Return the accounts whose balances are read."""
        return self._balances.named()

    def read(self) -> PoolHoldings:
        """Decode the holdings. Raises UpstreamError."""
        first, key = self._key
        bins = {
            at: found
            for at, (batch, read) in self._bins.items()
            if (found := _decode_bin(batch[read])) is not None
        }
        tokens = [
            (holder, Part(amount=shares, token_id=self._token_id(at), bin_id=at))
            for (holder, at), shares in self._balances.read().items()
        ]
        others = [
            (minter, Part(amount=shares, bin_id=at))
            for (minter, _, at), (batch, read_share) in self._others.items()
            if (shares := batch[read_share])
        ]
        reply = first[key]
        return gather_bins(
            bins,
            tokens + others,
            self._value,
            token_is_x=self._pool.token_is_0,
            gap=self._gap,
            pool_key=b"" if isinstance(reply, NoAnswer) else reply[: _KEY_WORDS * WORD],
        )

    def _request_named(self, batch: ReadBatch, named: Mapping[Address, set[int]]) -> None:
        if len(named) > MOST_HOLDERS:
            self._gap = "small holders are not read"
        for holder in list(named)[:MOST_HOLDERS]:
            self._balances.request(batch, holder, sorted(named[holder]))

    def _receivers(self, logs: Sequence[Log], *, minted: bool) -> dict[Address, set[int]]:
        """Return receivers of this pool's shares, in log order, with their bins.

        `minted`: True for new shares, False for transferred ones.
        """
        bin_of = {self._token_id(at): at for at in self._bins}
        found: dict[Address, set[int]] = {}
        for log in logs:
            transfer = decode_transfer(log) if log.address == self._manager else None
            if transfer is None or (transfer.sender == ZERO_ADDRESS) is not minted:
                continue
            bins = _bins_of(transfer, bin_of)
            if bins and transfer.receiver != ZERO_ADDRESS:
                found.setdefault(transfer.receiver, set()).update(bins)
        return found

    def _token_id(self, at: int) -> int:
        return int.from_bytes(keccak(self._id + at.to_bytes(WORD)))


def _bins_of(transfer: BinTransfer, bin_of: Mapping[int, int]) -> set[int]:
    return {bin_of[token_id] for token_id, _ in transfer.moved if token_id in bin_of}


def _decode_mint(log: MinedLog) -> _Mint | None:
    """Return the mint. None: the data is malformed."""
    data = bytes.fromhex(log.data.removeprefix("0x"))
    arrays = decode_arrays(data, at=(0, 2))
    if arrays is None or len(arrays[0]) != len(arrays[1]):
        return None
    mask = (1 << _HALF) - 1
    return _Mint(
        minter=Address("0x" + log.topics[2][-40:]),
        salt=data[WORD : 2 * WORD],
        amounts=tuple(
            (at, packed & mask, packed >> _HALF)
            for at, packed in zip(*arrays, strict=True)
            if at < BIN_NUMBERS
        ),
        block=int(log.block_number, 16),
    )


def _decode_bin(reply: Reply) -> BinReserves | None:
    if isinstance(reply, NoAnswer) or len(reply) < 4 * WORD:
        return None
    x, y, _, shares = (int.from_bytes(reply[at : at + WORD]) for at in range(0, 4 * WORD, WORD))
    return BinReserves(x=x, y=y, shares=shares)
