"""Budget of one endpoint's examination: calls and a deadline."""

from collections.abc import Callable

from core.errors import AssayError


class BudgetSpentError(AssayError):
    """Calls or time are used up."""


class CallBudget:
    """Remaining calls and time of one endpoint."""

    def __init__(self, *, most_calls: int, deadline_s: float, now_s: Callable[[], float]) -> None:
        """`deadline_s`: time on the clock `now_s`."""
        self._most_calls = most_calls
        self._deadline_s = deadline_s
        self._now_s = now_s
        self.calls = 0
        """Requests sent, answered or not."""

    def spend(self, calls: int) -> None:
        """Count requests before they are sent. Raises BudgetSpentError if they exceed the budget
        or come after the deadline."""
        self.check_time()
        if self.calls + calls > self._most_calls:
            message = f"the budget of {self._most_calls} calls is spent"
            raise BudgetSpentError(message)
        self.calls += calls

    def check_time(self) -> None:
        """Raise BudgetSpentError after the deadline."""
        if self.left_s <= 0:
            message = "the time is over"
            raise BudgetSpentError(message)

    @property
    def left_s(self) -> float:
        """Return the seconds left."""
        return self._deadline_s - self._now_s()
