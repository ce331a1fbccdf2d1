"""Calls made with a key, and the possible counts of the ledger."""

import threading
from typing import Final

import msgspec

from api.auth.usage_counters import LOST_AT_MOST_S


class TalliedCall(msgspec.Struct, frozen=True):
    """A call that was let through and answered. Seconds of the monotonic clock."""

    sent_s: float
    answered_s: float
    at: str
    """Name of the process."""


class CallTally:
    """Callers' knowledge of the calls of one key. Thread-safe."""

    def __init__(self, key_id: int, plaintext: str, *, before: int, limit: int | None) -> None:
        """`before`: calls that the ledger had of the key. `limit`: calls of its lifetime."""
        self.key_id: Final = key_id
        self.plaintext: Final = plaintext
        self.before: Final = before
        self.limit: Final = limit
        self.calls: list[TalliedCall] = []
        self.is_spent = False
        """True once a process has refused a call for its lifetime."""
        self._untold = 0
        self._forgiven = 0
        self._lock = threading.Lock()

    def answered(self, call: TalliedCall) -> None:
        """A call was let through."""
        with self._lock:
            self.calls.append(call)

    def maybe_counted(self) -> None:
        """Note a call without an answer, or with one that leaves open whether it was counted."""
        with self._lock:
            self._untold += 1

    def forgive(self, killed_s: float, at: str) -> None:
        """A process was killed: of a key without a limit its last second may not be counted."""
        if self.limit is not None:
            return
        with self._lock:
            self._forgiven += sum(
                call.at == at and call.answered_s > killed_s - LOST_AT_MOST_S for call in self.calls
            )

    def least(self) -> int:
        """Calls that the ledger must have."""
        with self._lock:
            return self.before + len(self.calls) - self._forgiven

    def differences(self, counted: int) -> list[str]:
        """Return the errors of a ledger with `counted` calls of the idle key, as text."""
        least = self.least()
        most = self.before + len(self.calls) + self._untold
        found = []
        if counted < least:
            found.append(f"key {self.key_id}: {least - counted} calls lost of {len(self.calls)}")
        if counted > most:
            found.append(f"key {self.key_id}: {counted - most} calls doubled of {len(self.calls)}")
        if self.limit is None:
            return found
        if max(counted, self.before + len(self.calls)) > self.limit:
            found.append(f"key {self.key_id}: {counted} calls counted of {self.limit}")
        if self.is_spent and counted < self.limit:
            found.append(f"key {self.key_id}: refused for good after {counted} of {self.limit}")
        return found

    def most_within(self, seconds: float) -> int:
        """Return the most calls admitted within a time, whatever the processes' clocks."""
        with self._lock:
            calls = sorted(self.calls, key=lambda call: call.sent_s)
        most = 0
        for at, first in enumerate(calls):
            inside = sum(call.answered_s - first.sent_s < seconds for call in calls[at:])
            most = max(most, inside)
        return most
