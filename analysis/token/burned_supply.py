"""Burned supply of a token: the sum of the balances of the five burn addresses."""

import msgspec

from analysis.reads.eth_reads import decode_uint
from analysis.reads.read_batch import ReadBatch
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address, RawAmount
from core.report.report import HolderRow

_ASKED = tuple(sorted(BURN_ADDRESSES))
_MOST = 2**256 - 1


class Burned(msgspec.Struct, frozen=True, kw_only=True):
    """Balances of the burn addresses at one block."""

    burned_raw: RawAmount
    """Their sum, at most 2**256 - 1; a token can report more than its supply."""
    holders: tuple[HolderRow, ...]
    """Burn addresses with a balance above zero, largest first."""


class BurnReads:
    """Reads of every burn address's balance."""

    def __init__(self, batch: ReadBatch, token: Address) -> None:
        self._batch = batch
        self._balances = {
            owner: batch.call(token, "balanceOf(address)", owner, returns=decode_uint)
            for owner in _ASKED
        }

    def read(self) -> Burned:
        """Sum the balances. A missing one counts as zero. Raises UpstreamError."""
        balances = [(self._batch[read] or 0, owner) for owner, read in self._balances.items()]
        ranked = sorted(((-amount, owner) for amount, owner in balances if amount))
        return Burned(
            burned_raw=RawAmount(min(_MOST, sum(amount for amount, _ in balances))),
            holders=tuple(
                HolderRow(
                    role="burn", ordinal=ordinal, owner=owner, amount_raw=RawAmount(-negative)
                )
                for ordinal, (negative, owner) in enumerate(ranked)
            ),
        )
