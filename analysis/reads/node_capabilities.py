"""What a chain's nodes can do beyond plain reads: learnt from how they answer, and remembered.

A node that refuses is asked again after a while: it may have been brought up to date, or another
one may stand behind the same address.
"""

from collections.abc import Callable
from time import monotonic

_AGAIN_AFTER_S = 600.0


class Capability:
    """One thing that a node may be able to do."""

    def __init__(self, now_s: Callable[[], float] = monotonic) -> None:
        self._now_s = now_s
        self._lacking_until_s = 0.0
        self.is_proven = False
        """Seen to work, and not refused since."""

    @property
    def is_worth_trying(self) -> bool:
        """Whether it has not been refused a short while ago."""
        return self._now_s() >= self._lacking_until_s

    def note_refusal(self) -> None:
        """The node said that it cannot, or could not."""
        self.is_proven = False
        self._lacking_until_s = self._now_s() + _AGAIN_AFTER_S


class NodeCapabilities:
    """All that matter here, of the nodes of one chain."""

    def __init__(self, now_s: Callable[[], float] = monotonic) -> None:
        self.packs = Capability(now_s)
        """Overrides of code in eth_call, so that many reads go in one."""
        self.simulation = Capability(now_s)
        """eth_simulateV1."""
        self.traces = Capability(now_s)
        """debug_traceCall with overrides of state and block, and its tracers."""
