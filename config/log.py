"""Logging setup of the process: one line an event on stderr, for people or as JSON."""

import logging
import sys
from collections.abc import Callable
from pathlib import PurePath
from traceback import StackSummary, TracebackException
from typing import Literal

import structlog
from structlog.typing import EventDict, Processor

from config.log_repeats import RepeatCounter
from core.process.terminal import printable_event

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


LogFormat = Literal["text", "json"]

_LEVEL = logging.INFO


def configure_log(form: LogFormat = "text", *, coloured: bool = False) -> Callable[[], None]:
    """Configure logging to stderr, that of the libraries too.

    Returns a function to call at the end: it logs the events that were counted and not logged yet.
    An exception is shown by its message and its frames, never by the values of variables, which
    include callers' keys. `coloured` text has escape sequences; JSON never has.
    """
    counter = RepeatCounter(_json() if form == "json" else _text(coloured=coloured))
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso" if form == "json" else "%F %T", utc=True),
            structlog.processors.format_exc_info if form == "json" else _exception_in_line,
            *([] if form == "json" else [printable_event]),
            counter,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(_LEVEL),
    )
    root = logging.getLogger()
    if not any(isinstance(handler, _LibraryHandler) for handler in root.handlers):
        root.addHandler(_LibraryHandler(logging.WARNING))

    def tell_rest() -> None:
        sys.stderr.writelines(f"{line}\n" for line in counter.drain())

    return tell_rest


def _json() -> Processor:
    return structlog.processors.JSONRenderer()  # escapes what is not ASCII, so also what controls


def _text(*, coloured: bool) -> Processor:
    return structlog.dev.ConsoleRenderer(colors=coloured, pad_event_to=0)


def _exception_in_line(_: object, __: str, event: EventDict) -> EventDict:
    """Replace `exc_info` by one line. True: the exception that is being handled."""
    error = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()[1]
    elif isinstance(error, tuple):
        error = error[1]
    if isinstance(error, BaseException):
        event["error"] = describe_exception(error)
    return event


class _LibraryHandler(logging.Handler):
    """Hands what libraries log by `logging` to our log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record at its level."""
        log = structlog.get_logger(record.name)
        log.log(record.levelno, record.getMessage(), source=record.name, exc_info=record.exc_info)
