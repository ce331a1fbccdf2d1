"""Past custody: stores of unproved custody that could run after the creation, and cannot any more.

What they left in allowances and unknown places stays. A debit leaves nothing: the holder of the
time lost by it, and one that raises a balance is found by the proof of conservation. Sends no
request.
"""

from collections.abc import Mapping, Set
from typing import Final

import msgspec

from analysis.scenarios.theft.unproved_stores import UndecidedStore, open_custody
from analysis.static.custody.custody_report import StoredAddress
from analysis.static.custody.simulation_hints import SimulationHints
from core.evm.primitives import Address
from core.report.report import EvidenceRow

_UPGRADES: Final = frozenset({0x3659CFE6, 0x4F1EF286})
"""upgradeTo and upgradeToAndCall, whose events name each implementation."""


class PastCustodyEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Body of the evidence."""

    writes: tuple[UndecidedStore, ...]
    """Stores that could run when the creation ended, or are not known not to."""
    is_known: bool
    """False: the state of the creation is not known."""
    is_replaced: bool | None
    """True if earlier code behind a proxy may have given amounts. None: not known."""

    @property
    def is_unproved(self) -> bool | None:
        """Return the report field for the past alone. None: not known."""
        if self.is_replaced or (self.is_known and self.writes):
            return True
        return None if self.writes or self.is_replaced is None else False

    @property
    def rows(self) -> tuple[EvidenceRow, ...]:
        """Return the row `unproved_custody:past`, if the past is not proved."""
        if self.is_unproved is False:
            return ()
        body = msgspec.json.encode(self).decode()
        return (EvidenceRow(key="unproved_custody:past", body=body),)


def past_custody(
    hints: SimulationHints,
    *,
    now: Mapping[StoredAddress, Address],
    then: Mapping[StoredAddress, Address] | None,
    trusted: Set[Address],
    consenting: Set[Address],
    is_replaced: bool | None,
) -> PastCustodyEvidence:
    """Return the stores that nobody can make any more, and some account could.

    `now`, `then`: addresses in the token's storage, at present and when the creation ended; then
    None: not known, so that all such stores count. `is_replaced`: as in the evidence.
    """
    lasting = tuple(write for write in hints.open_writes if write.kind != "debit")
    hints = msgspec.structs.replace(hints, open_writes=lasting)
    live = open_custody(hints, now, trusted=trusted, consenting=consenting)
    if then is None:
        able = [
            UndecidedStore(selector=write.selector, pc=write.pc, reason=write.kind)
            for write in lasting
            if any(party.address not in consenting for party in write.parties)
        ]
    else:
        able = open_custody(hints, then, trusted=trusted, consenting=consenting)
    places = {(each.selector, each.pc) for each in live}
    replacing = _UPGRADES if is_replaced is False else frozenset()
    return PastCustodyEvidence(
        writes=tuple(
            each
            for each in able
            if (each.selector, each.pc) not in places and each.selector not in replacing
        ),
        is_known=then is not None,
        is_replaced=is_replaced,
    )
