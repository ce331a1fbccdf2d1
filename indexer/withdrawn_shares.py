"""Shares of pools' tokens that withdrawals took, by the stored transfers of a token.

A withdrawal that is paid in again within its block took nothing: providers move positions, and some
provide liquidity for one trade alone.
"""

import numpy as np

from core.evm.primitives import Address, RawAmount
from core.process.arrays import BoolArray, ByteArray
from indexer.events import SpanWrite
from sql.chain.balances import read_balances
from sql.chain.pool_tables import PoolFacts
from sql.engine.columns import blob
from sql.tokens.tokens import read_token


class WithdrawnShares:
    """Losses of pools within one span, whose transfers are found and not stored yet."""

    def __init__(self, write: SpanWrite, *, chain_id: int) -> None:
        self._write = write
        self._chain_id = chain_id

    def find_pct(
        self, pool: PoolFacts, token: Address, amount_raw: RawAmount | None, *, block_number: int
    ) -> float | None:
        """Return the percent of a pool's tokens that a withdrawal in a block took, 0 to 100.

        The whole is the balance at the end of the block before. None: it is not known, or zero.
        """
        found = self._write.found
        tracked = read_token(self._write.tx, chain_id=self._chain_id, address=token)
        if amount_raw is None or found is None or tracked is None:
            return None
        complete_from = tracked.transfers_from_block
        if complete_from is None or complete_from > pool.block_number:
            return None  # the pool may have tokens from before
        holder = blob(pool.pool)
        stored = read_balances(self._write.tx, token_id=tracked.token_id, owners=[holder])
        if stored is None:
            return None
        of_token: BoolArray = found.token_ids == tracked.token_id
        transfers = found.transfers.take(of_token)
        earlier: BoolArray = transfers.block_number < block_number
        within: BoolArray = transfers.block_number == block_number
        into, out = _is_at(transfers.recipient, holder), _is_at(transfers.sender, holder)
        before = (
            stored[holder]
            + _sum(transfers.amount, earlier & into)
            - _sum(transfers.amount, earlier & out)
        )
        left = before + _sum(transfers.amount, within & into) - amount_raw
        if before <= 0 or left < 0:
            return None  # its balance changes without transfers
        return max(0.0, 100 * (before - left) / before)


def _is_at(accounts: ByteArray, account: bytes) -> BoolArray:
    equal: BoolArray = (accounts == np.frombuffer(account, np.uint8)).all(axis=1)
    return equal


def _sum(amounts: ByteArray, rows: BoolArray) -> int:
    return sum(int.from_bytes(amounts[at].tobytes()) for at in np.flatnonzero(rows))
