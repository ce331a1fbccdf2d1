"""Errors of the routes of watches."""

from api.error_answers import (
    CallerRefusalBody,
    DetailBody,
    InvalidInputError,
    InvalidItem,
    RefusalError,
)


class NoSuchWatchError(RefusalError):
    """The key has no watch of this number; another key may."""

    def __init__(self) -> None:
        super().__init__(status=404, body=DetailBody(detail="This key has no such watch."))


class WatchLimitError(RefusalError):
    """The plan of the key allows no more watches, or no more tokens in them."""

    def __init__(self, *, most: int, of: str) -> None:
        body = CallerRefusalBody(
            error_code="watch_limit_reached",
            error="Watch limit reached",
            detail=f"The plan of this key has {most} {of}.",
            next_step="Remove some, or use a key of another plan.",
        )
        super().__init__(status=403, body=body)


class TooManyStreamsError(RefusalError):
    """The key, its network or the service has its maximum number of open event streams."""

    def __init__(self, *, whose: str, most: int) -> None:
        """`whose`: the beginning of the sentence, such as "This key"."""
        detail = f"{whose} has {most} open event streams, and may have no more."
        super().__init__(status=429, body=DetailBody(detail=detail), headers={"Retry-After": "60"})


def wrong_value(name: str, message: str) -> InvalidInputError:
    """Return the error for a value of the body that is not allowed."""
    return InvalidInputError(InvalidItem(loc=("body", name), msg=message, type="value_error"))
