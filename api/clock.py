"""Times in answers, and the clock a contract reads."""

from datetime import UTC, datetime

import msgspec


class ContractClock(msgspec.Struct, frozen=True, kw_only=True):
    """What `block.number` and `block.timestamp` give inside a contract of one chain."""

    block_number: int | None
    """On chains that show contracts Ethereum's block number, that one. None: not known."""
    time_s: int
    block_time_s: float
    """Nominal seconds between two values of `block_number`."""

    def reached_at_s(self, block_number: int) -> int | None:
        """Unix seconds when the block number is or was reached, by nominal block time.

        None: the clock's own block number is not known.
        """
        if self.block_number is None:
            return None
        return self.time_s + round((block_number - self.block_number) * self.block_time_s)


def iso_utc(time_s: float) -> str:
    """ISO 8601 in UTC, whole seconds, `Z`."""
    return datetime.fromtimestamp(int(time_s), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
