"""Observation of a watched token before the block's time and sender are added."""

import msgspec

from core.evm.primitives import Address, BlockRef, Hash32
from core.report.notifications import ObservationKind
from sql.tokens.observations import Observation


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Observation without block; the fields are those of Observation."""

    block_number: int
    token_id: int
    kind: ObservationKind
    tx_hash: Hash32 | None = None
    sender: Address | None = None
    what: str
    detail: str | None = None

    def at(self, block: BlockRef, *, chain_id: int, sender: Address | None) -> Observation:
        """Return the observation in its block."""
        return Observation(
            chain_id=chain_id,
            block_number=block.number,
            block_time_s=block.time_s,
            token_id=self.token_id,
            kind=self.kind,
            tx_hash=self.tx_hash,
            sender=self.sender or sender,
            what=self.what,
            detail=self.detail,
        )
