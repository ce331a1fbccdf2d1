"""When a message is sent again that a webhook has not taken. Pure."""

from typing import Final

from core.rpc.backoff import drawn_backoff_s

GIVE_UP_AFTER_S: Final = 86_400
"""Seconds of failed attempts after which a watch is marked as failing, and they are given up."""

LONGEST_WAIT_S: Final = 3_600.0

_FIRST_WAIT_S: Final = 1.0


def next_attempt_s(
    *,
    failures: int,
    failed_first_at_s: float,
    now_s: float,
    chance: float,
    retry_after_s: float | None = None,
) -> float | None:
    """Return when to try again, in Unix seconds. None: not any more.

    The wait doubles with every failure, up to an hour; `chance`, from 0 to 1, takes up to half of
    it away, so that those who failed together do not come back together. `retry_after_s` is what
    the receiver asks for: it can make the wait longer, up to an hour.
    """
    if now_s - failed_first_at_s >= GIVE_UP_AFTER_S:
        return None
    wait_s = drawn_backoff_s(failures, first_s=_FIRST_WAIT_S, most_s=LONGEST_WAIT_S, chance=chance)
    return now_s + min(max(wait_s, retry_after_s or 0.0), LONGEST_WAIT_S)
