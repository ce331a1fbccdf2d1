"""Times in answers, and the clock a contract reads."""

from datetime import UTC, datetime

import msgspec


class ContractClock(msgspec.Struct, frozen=True, kw_only=True):
    """What `block.number` and `block.timestamp` give inside a contract of one chain."""

    time_s: int
    """Unix seconds."""
    block_number: int | None
    """On chains that show contracts Ethereum's block number, that one. None: not known."""
    block_time_s: int
    """Unix seconds at which `block_number` was mined."""
    block_interval_s: float
    """Nominal seconds between two values of `block_number`."""


def iso_utc(time_s: float) -> str:
    """ISO 8601 in UTC, whole seconds, `Z`."""
    return datetime.fromtimestamp(int(time_s), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
