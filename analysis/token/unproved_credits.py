"""Functions that may raise the sum of the balances at one block. Pure.

A function that the current storage rules out for good, such as an initializer that has run, is left
out.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from analysis.static.powers.static_powers import StaticPowers, UnprovedCredit
from analysis.token.live_setters import LiveSetters
from core.report.report import EvidenceRow

_KEY: Final = "creates_balances:open"
_REASON: Final = "not proved to keep the sum of the balances"
_MOST_SHOWN: Final = 12


class _Write(msgspec.Struct, frozen=True, kw_only=True):
    selector: int
    pc: int
    reason: str


class _OpenCredits(msgspec.Struct, frozen=True, kw_only=True):
    reason: str
    writes: tuple[_Write, ...]


def live_credits(powers: StaticPowers, live: LiveSetters) -> tuple[UnprovedCredit, ...] | None:
    """Return the unproved functions that can still run. None: not known."""
    if powers.credits is None:
        return None
    return tuple(each for each in powers.credits if live.is_live(each.setter))


def creates_balances(credits: tuple[UnprovedCredit, ...] | None) -> bool | None:
    """Return the report field: None where bounds or merged values prevented the proof."""
    if credits is None:
        return None
    if any(each.is_certain for each in credits):
        return True
    return None if credits else False


def credit_evidence(credits: tuple[UnprovedCredit, ...] | None) -> Iterator[EvidenceRow]:
    """Yield one row with the functions, places and reasons, or none."""
    if credits:
        writes = tuple(
            _Write(selector=int(each.setter.selector, 16), pc=each.pc, reason=each.reason)
            for each in credits[:_MOST_SHOWN]
        )
        body = _OpenCredits(reason=_REASON, writes=writes)
        yield EvidenceRow(key=_KEY, body=msgspec.json.encode(body).decode())
