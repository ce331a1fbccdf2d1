"""Status of a timebomb at one moment: compares clock limits with the clock. Pure.

Runs for every response, not once per analysis. Rules and precedence: the specification,
"timebomb_status". Where it has "about", or no value, the constants here decide.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from analysis.static.token_model.clock.clock_limits import ClockKind
from analysis.token.contract_clock import ContractClock
from core.evm.primitives import Hash32
from core.report.fields.field import Pending
from core.report.report import ClockLimitRow

TimebombState = Literal["armed", "unknown", "resettable", "passed", "unreachable"]

PRECEDENCE: Final[tuple[TimebombState, ...]] = (
    "armed",
    "unknown",
    "resettable",
    "passed",
    "unreachable",
)
"""Statuses in order of precedence, for values that imply different ones."""

HARMLESS: Final[frozenset[TimebombState]] = frozenset({"passed", "unreachable"})
"""Statuses under which the finding is sent as false."""

YEAR_S: Final = 365 * 86_400

UNIX_TIMES_FROM_S: Final = 1_000_000_000
"""Begin of the Unix-time range (September 2001); it ends where limits begin."""

LIMIT_AFTER_S: Final = 10 * YEAR_S
"""Seconds. A value further ahead than this is never reached in practice."""

BLOCKS_FROM_S: Final = 22 * YEAR_S // 10
"""Seconds. Age by nominal block time up to which a value counts as a past block number: the "about
two years" of the specification with a tenth of slack. At exactly two years no stored block could
ever have passed, because that takes more than two."""

OLD_AFTER_S: Final = YEAR_S
"""Seconds. A stored deadline counts as passed when it is older."""

_BLOCK_AGE_SHARE: Final = 0.5
"""Share of the nominal block time by which the age of a block is counted.

A block then does not seem old on a chain that has become faster."""

_DURATION_S: Final = 60
"""Seconds. Its multiples look like block numbers but are durations."""


class TimebombDeadline(msgspec.Struct, frozen=True, kw_only=True):
    """A value that the clock reaches, or has reached."""

    source: Literal["constant", "storage"]
    slot: Hash32 | None
    clock: ClockKind
    value: int
    passed: bool
    """True if the clock is at or after the value."""
    reached_at_s: int
    """Unix seconds; exact for a timestamp, by nominal block time for a block."""


class Timebomb(msgspec.Struct, frozen=True, kw_only=True):
    """Finding, status and deadlines at one moment."""

    found: bool | Pending | None
    """The finding as reported."""
    status: TimebombState | None
    """None: no finding, or not analysed yet."""
    deadlines: tuple[TimebombDeadline, ...]
    """Every deadline with a known clock once, earliest first."""


def find_status(
    found: bool | Pending | None,
    limits: Sequence[ClockLimitRow],
    *,
    clock: ContractClock | None,
    can_change: bool,
) -> Timebomb:
    """Compare every limit with the clock and return the resulting status.

    `found` is the static finding: a status may switch it off, never on. Without a clock, or without
    any limit that was understood, the status is `unknown`. `can_change` from `storage_can_change`.
    """
    if found is not True:
        return Timebomb(found=found, status=None, deadlines=())
    if clock is None:
        return Timebomb(found=True, status="unknown", deadlines=())
    implied = {imply(limit, clock, can_change=can_change) for limit in limits}
    status: TimebombState = min(implied, key=PRECEDENCE.index, default="unknown")
    placed = {deadline for limit in limits if (deadline := _deadline(limit, clock)) is not None}
    return Timebomb(
        found=status not in HARMLESS,
        status=status,
        deadlines=tuple(sorted(placed, key=_rank)),
    )


def storage_can_change(
    *, ownership_renounced: bool | None, owner_slots_vacant: bool | None
) -> bool:
    """True if an owner may still exist that can change a stored value.

    Only the owner is considered; the access control of setters is not checked.
    """
    return ownership_renounced is not True or owner_slots_vacant is not True


def place(
    value: int, clock: ContractClock, *, compared_with: ClockKind | None = None
) -> ClockKind | Literal["limit"] | None:
    """Return the clock a value belongs to, or "limit" if it is never reached. None: not known.

    A value that code compares with one clock is never assigned to the other.
    """
    ahead_blocks = LIMIT_AFTER_S / clock.block_interval_s
    if value > clock.time_s + LIMIT_AFTER_S and value > clock.block_number + ahead_blocks:
        return "limit"
    is_time = UNIX_TIMES_FROM_S <= value <= clock.time_s + LIMIT_AFTER_S
    if is_time and compared_with != "block":
        return "timestamp"
    from_block = max(1, clock.block_number - BLOCKS_FROM_S / clock.block_interval_s)
    is_block = from_block <= value <= clock.block_number + ahead_blocks and value % _DURATION_S
    return "block" if is_block and compared_with != "timestamp" else None


def imply(limit: ClockLimitRow, clock: ContractClock, *, can_change: bool) -> TimebombState:
    """Return the status that one limit by itself gives."""
    if limit.source == "stamp":
        return "passed"
    placed = None
    if limit.value is not None:
        placed = place(limit.value, clock, compared_with=limit.compared_with)
    if placed is None or limit.value is None:
        return "unknown"
    is_movable = limit.source == "storage" and can_change
    if placed == "limit":
        return "resettable" if is_movable else "unreachable"
    if not _is_past(limit.value, placed, clock):
        return "armed"
    if limit.source == "storage" and not _is_old(limit.value, placed, clock):
        return "unknown"
    return "resettable" if is_movable else "passed"


def _is_past(value: int, placed: ClockKind, clock: ContractClock) -> bool:
    return value <= (clock.time_s if placed == "timestamp" else clock.block_number)


def _is_old(value: int, placed: ClockKind, clock: ContractClock) -> bool:
    if placed == "timestamp":
        return clock.time_s - value > OLD_AFTER_S
    age_s = (clock.block_number - value) * clock.block_interval_s * _BLOCK_AGE_SHARE
    return age_s > OLD_AFTER_S


def _deadline(limit: ClockLimitRow, clock: ContractClock) -> TimebombDeadline | None:
    if limit.value is None or limit.source == "stamp":
        return None
    placed = place(limit.value, clock, compared_with=limit.compared_with)
    if placed is None or placed == "limit":
        return None
    reached_at_s = limit.value
    if placed == "block":
        wait_s = (limit.value - clock.block_number) * clock.block_interval_s
        reached_at_s = round(clock.block_time_s + wait_s)
    return TimebombDeadline(
        source=limit.source,
        slot=limit.slot,
        clock=placed,
        value=limit.value,
        passed=_is_past(limit.value, placed, clock),
        reached_at_s=reached_at_s,
    )


def _rank(deadline: TimebombDeadline) -> tuple[int, str, str, int]:
    return deadline.reached_at_s, deadline.source, deadline.slot or "", deadline.value
