"""Reads of the liquidity holders of one pool: their code, and the records of lockers.

Code is requested as soon as a holder is named, so that it takes no extra round trip.
"""

from collections.abc import Sequence
from typing import Final

from analysis.liquidity.holdings import LiquidityHolding, PoolHoldings, ReadRound
from analysis.liquidity.locks import Lock, LockReads
from analysis.liquidity.pool_history import PoolSpan
from analysis.liquidity.position_locks import PermanentLocks, UncxPositionLocks
from analysis.liquidity.token_locks import (
    PinkLockTokenLocks,
    TeamFinanceTokenLocks,
    UncxTokenLocks,
)
from analysis.market.venues.venue_registry import venue_of
from analysis.reads.chain_reads import AnswerAddress, Handle
from analysis.reads.read_batch import ReadBatch
from analysis.token.admission import DELEGATION_BYTES, is_delegated_account
from config.burn import BURN_ADDRESSES
from config.facts.chain import Chain, LockRecords
from core.evm.primitives import Address

MOST_CODES: Final = 40
"""Holders of one pool whose code is read."""


class LiquidityHolderReads:
    """Reads of one pool's holders."""

    def __init__(self, chain: Chain) -> None:
        self._records = {at: one.records for one in chain.lockers for at in one.contracts}
        self._codes: dict[Address | AnswerAddress, tuple[ReadBatch, Handle[bytes]]] = {}
        self._unread: frozenset[Address] = frozenset()
        self._locks: dict[Address, LockReads] = {}

    def request_codes(self, batch: ReadBatch, named: Sequence[Address | AnswerAddress]) -> None:
        """Add the code of the named holders, once for each."""
        for holder in named:
            if len(self._codes) < MOST_CODES and holder not in (*self._codes, *BURN_ADDRESSES):
                self._codes[holder] = batch, batch.code(holder, first_bytes=DELEGATION_BYTES)

    def request_more(self, span: PoolSpan, found: PoolHoldings) -> Sequence[Sequence[ReadRound]]:
        """Return further rounds: code of holders not named before, and locks of known lockers."""
        for holding in found.holdings:
            reads = lock_reads(self._records.get(holding.holder), span, holding)
            if reads is not None:
                self._locks[holding.holder] = reads
        holders = [holding.holder for holding in found.holdings]
        of_locks = [reads.rounds() for reads in self._locks.values()]
        return [lambda batch: self._request_rest(batch, holders)], *of_locks

    def _request_rest(self, batch: ReadBatch, holders: Sequence[Address]) -> None:
        known = set(self._by_holder())
        self.request_codes(batch, [holder for holder in holders if holder not in known])
        # Unread holders count as contracts, so that their share is not reported as withdrawable.
        self._unread = frozenset(holders) - known - self._codes.keys() - BURN_ADDRESSES

    def contracts(self) -> frozenset[Address]:
        """Return the holders with code. Raises UpstreamError."""
        coded = {
            holder
            for holder, (batch, handle) in self._by_holder().items()
            if (code := batch[handle]) and not is_delegated_account(code)
        }
        return self._unread | coded

    def locks(self) -> dict[Address, tuple[Lock, ...]]:
        """Return the locks by locker, soonest first. Raises UpstreamError."""
        return {
            at: tuple(sorted(reads.read(), key=lambda lock: lock.until_s))
            for at, reads in self._locks.items()
        }

    def _by_holder(self) -> dict[Address, tuple[ReadBatch, Handle[bytes]]]:
        """Return the reads of code by holder. Answers that named no holder are left out."""
        resolved = (
            (batch.resolve(holder), (batch, handle))
            for holder, (batch, handle) in self._codes.items()
        )
        return {holder: read for holder, read in resolved if holder is not None}


def lock_reads(
    records: LockRecords | None, span: PoolSpan, holding: LiquidityHolding
) -> LockReads | None:
    """Return the reads of a locker's locks of a pool. None: its records cannot be read."""
    locker, pool = holding.holder, span.pool
    match records, venue_of(pool.dex).liquidity_form(pool.dex):
        case "uncx_v2", "lp_tokens":
            return UncxTokenLocks(locker, pool.pool)
        case "pinklock", "lp_tokens":
            return PinkLockTokenLocks(locker, pool.pool)
        case "team_finance", "lp_tokens":
            return TeamFinanceTokenLocks(span, locker)
        case "uncx_v3", "minted_positions":
            return UncxPositionLocks(span, holding)
        case "never_released", "minted_positions" | "entry_positions":
            return PermanentLocks(holding)
        case _:
            return None
