"""Events on the chain that preceded a change, as they are sent. Pure."""

from api.formats.shape_building import Shape
from core.evm.primitives import Hash32, checksum
from core.report.notifications import ChangeCause


class SeenCause(Shape, frozen=True, kw_only=True):
    """One event on the chain about the token between two reports. It preceded the change and is a
    likely cause, not a proved one."""

    kind: str
    """call, owner_call, parameter_event, ownership_event, pool_created, liquidity, state,
    failed_trade, other_tax, deadline or gap."""
    block_number: int
    """Block in which it was seen."""
    tx_hash: Hash32 | None
    """Its transaction. null: no single one is known."""
    sender: str | None
    """Account that signed the transaction, with checksum. null: not known."""
    what: str
    """A function, an event, a storage slot or a pool, by kind."""
    detail: str | None
    """Values before and after, arguments, or a reason. null: there is no detail."""


def show_cause(cause: ChangeCause) -> SeenCause:
    """Render an observation that preceded a change."""
    return SeenCause(
        kind=cause.kind,
        block_number=cause.block_number,
        tx_hash=cause.tx_hash,
        sender=None if cause.sender is None else checksum(cause.sender),
        what=cause.what,
        detail=cause.detail,
    )
