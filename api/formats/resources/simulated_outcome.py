"""Outcome of a simulated step, as in the answers of token sub-resources."""

from typing import Literal

from analysis.simulation.simulate_v1 import Outcome, Passed, Refused

OutcomeWord = Literal["passed", "refused", "unknown"]


def outcome_word(outcome: Outcome) -> OutcomeWord:
    """Return the outcome as a word. unknown: it was not simulated."""
    if isinstance(outcome, Passed):
        return "passed"
    return "refused" if isinstance(outcome, Refused) else "unknown"


def outcome_reason(outcome: Outcome) -> str:
    """Return why a step did not pass. Empty: it did."""
    return "" if isinstance(outcome, Passed) else outcome.reason


def outcome_tax(outcome: Outcome) -> float | None:
    """Return the tax in percent. None: it did not pass, or is not computable."""
    return outcome.tax if isinstance(outcome, Passed) else None
