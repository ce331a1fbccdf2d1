"""Holders of the bins of a Liquidity Book pair.

Shares of bins are tokens of the pair, whose TransferBatch events name every holder. Balances and
the bins' reserves are then read from the pair, which a known factory deployed. Source: joe-v2
ILBPair, ILBToken.
"""

from collections import defaultdict
from collections.abc import Sequence

from analysis.liquidity.bin_holdings import BinReserves, BinValue, ShareKey, gather_bins
from analysis.liquidity.bin_tokens import (
    BIN_NUMBERS,
    MOST_BINS,
    MOST_HOLDERS,
    TRANSFER_BATCH,
    BinBalances,
    decode_transfer,
)
from analysis.liquidity.holdings import (
    HISTORY_REFUSED,
    HoldingReads,
    Part,
    PoolHoldings,
    ReadRound,
)
from analysis.liquidity.pool_history import PoolHistory, PoolSpan
from analysis.reads.chain_reads import Handle
from analysis.reads.eth_reads import (
    WORD,
    Log,
    NoAnswer,
    Reply,
    decode_address,
    decode_logs,
    decode_uint,
)
from analysis.reads.read_batch import ReadBatch
from core.evm.primitives import ZERO_ADDRESS, Address


class BookBins(HoldingReads):
    """Reads of one pair."""

    def __init__(self, span: PoolSpan, value: BinValue) -> None:
        self._span, self._pool, self._value = span, span.pool, value
        self._balances = BinBalances(span.pool.pool, int)
        self._history: PoolHistory[Log]
        self._token_x: tuple[ReadBatch, Handle[Address | None]]
        self._bins: dict[int, tuple[ReadBatch, Handle[Reply], Handle[int | None]]] = {}
        self._gap = ""

    def rounds(self) -> tuple[ReadRound, ...]:
        """Return the two rounds."""
        return self._request_history, self._request_balances

    def _request_history(self, batch: ReadBatch) -> None:
        self._history = self._span.request(
            batch,
            [TRANSFER_BATCH],
            returns=decode_logs,
        )
        token_x = batch.call(self._pool.pool, "getTokenX()", returns=decode_address)
        self._token_x = batch, token_x

    def _request_balances(self, batch: ReadBatch) -> None:
        if not self._history.is_whole:
            self._gap = HISTORY_REFUSED
        left = _shares_by_events(self._history.read())
        # Shares of all bins are valued in the pair's second token.
        of_bin, of_holder = defaultdict[int, int](int), defaultdict[Address, int](int)
        for (holder, at), shares in left.items():
            of_bin[at] += shares
            of_holder[holder] += shares
        bins = sorted(of_bin, key=lambda at: -of_bin[at])[:MOST_BINS]
        holders = sorted(of_holder, key=lambda holder: (-of_holder[holder], holder))
        if len(holders) > MOST_HOLDERS or len(of_bin) > len(bins):
            self._gap = "small holders, or small bins, are not read"
        pair = self._pool.pool
        for at in bins:
            reserves = batch.call(pair, "getBin(uint24)", at)
            supply = batch.call(pair, "totalSupply(uint256)", at, returns=decode_uint)
            self._bins[at] = batch, reserves, supply
        for holder in holders[:MOST_HOLDERS]:
            self._balances.request(batch, holder, [at for at in bins if (holder, at) in left])

    def named(self) -> Sequence[Address]:
        """Return the accounts whose balances are read."""
        return self._balances.named()

    def read(self) -> PoolHoldings:
        """Decode the holdings. Raises UpstreamError."""
        first, token_x = self._token_x
        bins = {
            at: found
            for at, (batch, reserves, shares) in self._bins.items()
            if (found := _decode_bin(batch[reserves], batch[shares])) is not None
        }
        return gather_bins(
            bins,
            [
                (holder, Part(amount=owned, token_id=at, bin_id=at))
                for (holder, at), owned in self._balances.read().items()
            ],
            self._value,
            token_is_x=first[token_x] == self._pool.token,
            gap=self._gap,
        )


def _decode_bin(reserves: Reply, shares: int | None) -> BinReserves | None:
    if isinstance(reserves, NoAnswer) or len(reserves) < 2 * WORD or shares is None:
        return None
    x, y = (int.from_bytes(reserves[at : at + WORD]) for at in (0, WORD))
    return BinReserves(x=x, y=y, shares=shares)


def _shares_by_events(logs: tuple[Log, ...]) -> dict[ShareKey, int]:
    """Return the shares that transfers leave each account, where positive."""
    left = defaultdict[ShareKey, int](int)
    for transfer in filter(None, map(decode_transfer, logs)):
        for at, amount in transfer.moved:
            left[transfer.sender, at] -= amount
            left[transfer.receiver, at] += amount
    return {
        (holder, at): shares
        for (holder, at), shares in left.items()
        if shares > 0 and holder != ZERO_ADDRESS and at < BIN_NUMBERS
    }
