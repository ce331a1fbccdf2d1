"""How much of a code is explored before the analysis gives up on the rest."""

import msgspec


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Where a walk stops, finished or not."""

    steps: int = 1_500_000
    """Instructions. A count, so that answers do not depend on the machine. One function gets at
    most a third of what is left, so that none uses up what the others need."""
    seconds: float = 6.0
    """Of the thread's processor time, for a slow machine."""
