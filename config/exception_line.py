"""An exception in one line: type, message and frames, with what it was caused by."""

from pathlib import PurePath
from traceback import StackSummary, TracebackException

_MOST_FRAMES = 12
"""Innermost ones of each exception; the outer ones are the same for most."""

_FOLDERS = 2
"""Parts of a file's path that are shown: its name and its folder."""


def describe_exception(error: BaseException) -> str:
    """Return `Type: message (folder/file.py:line in function < ...), because of ...`.

    Innermost frame first. Values of variables are never part of it. The text may contain anything
    that the message contains.
    """
    return _describe(TracebackException.from_exception(error))


def _describe(error: TracebackException) -> str:
    headline = "".join(error.format_exception_only()).strip()
    frames = _frames(error.stack)
    text = f"{headline} ({frames})" if frames else headline
    if error.exceptions:
        text += f" of [{'; '.join(map(_describe, error.exceptions))}]"
    cause = error.__cause__
    if cause is None and not error.__suppress_context__:
        cause = error.__context__
    return text if cause is None else f"{text}, because of {_describe(cause)}"


def _frames(stack: StackSummary) -> str:
    inner = list(reversed(stack))
    shown = [
        f"{'/'.join(PurePath(frame.filename).parts[-_FOLDERS:])}:{frame.lineno} in {frame.name}"
        for frame in inner[:_MOST_FRAMES]
    ]
    return " < ".join([*shown, "..."] if len(inner) > _MOST_FRAMES else shown)
