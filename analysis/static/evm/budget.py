"""Exploration budget: the bounds on steps and processor time of one symbolic execution."""

import msgspec


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Limits at which an exploration stops, finished or not."""

    steps: int = 1_500_000
    """Instructions. A count, so that results do not depend on the machine. One function gets at
    most a third of the steps left, so that none uses up the steps of the others."""
    seconds: float = 6.0
    """Processor time of the thread in seconds; the bound on a slow machine."""
