"""Capabilities of a chain's nodes beyond plain reads, learnt from their answers and cached.

A capability that failed is tried again after a while: the node may have been upgraded, or another
one may serve the same address.
"""

from collections.abc import Callable
from time import monotonic

_AGAIN_AFTER_S = 600.0


class Capability:
    """An RPC feature that a node may support."""

    def __init__(self, now_s: Callable[[], float] = monotonic) -> None:
        self._now_s = now_s
        self._lacking_until_s = 0.0
        self.is_proven = False
        """True if it has worked, and not failed since."""

    @property
    def is_worth_trying(self) -> bool:
        """True if it has not failed a short while ago."""
        return self._now_s() >= self._lacking_until_s

    def note_refusal(self) -> None:
        """Record that the node rejected it or failed."""
        self.is_proven = False
        self._lacking_until_s = self._now_s() + _AGAIN_AFTER_S


class NodeCapabilities:
    """The optional RPC features that analyses of one chain use."""

    def __init__(self, now_s: Callable[[], float] = monotonic) -> None:
        self.packs = Capability(now_s)
        """Code overrides in eth_call, so that many reads go in one."""
        self.simulation = Capability(now_s)
        """eth_simulateV1."""
        self.traces = Capability(now_s)
        """debug_traceCall with state and block overrides, and its tracers."""
        self.old_states = Capability(now_s)
        """Codes of old blocks, by which a creation is searched."""
        self.creation_traces = Capability(now_s)
        """debug_traceTransaction of the transaction that created a token."""
