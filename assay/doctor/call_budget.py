"""ExaminationBounds of one endpoint's examination: calls, and a point in time."""

from collections.abc import Callable

from core.errors import AssayError


class BudgetSpentError(AssayError):
    """No more calls, or no more time."""


class CallBudget:
    """Calls and time that are left for one endpoint."""

    def __init__(self, *, most_calls: int, deadline_s: float, now_s: Callable[[], float]) -> None:
        """`deadline_s`: on the clock of `now_s`."""
        self._most_calls = most_calls
        self._deadline_s = deadline_s
        self._now_s = now_s
        self.calls = 0
        """Requests sent, answered or not."""

    def spend(self, calls: int) -> None:
        """Count requests that are about to be sent. Raises BudgetSpentError where they are too
        many, or too late."""
        self.check_time()
        if self.calls + calls > self._most_calls:
            message = f"the budget of {self._most_calls} calls is spent"
            raise BudgetSpentError(message)
        self.calls += calls

    def check_time(self) -> None:
        """Raises BudgetSpentError where the time is over."""
        if self.left_s <= 0:
            message = "the time is over"
            raise BudgetSpentError(message)

    @property
    def left_s(self) -> float:
        """Return the seconds left."""
        return self._deadline_s - self._now_s()
