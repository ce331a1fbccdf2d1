"""Logging setup of the process: one line an event on stderr, with repeated lines counted."""

import logging
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import PurePath
from traceback import StackSummary, TracebackException
from typing import Literal

import msgspec
import structlog
from structlog.typing import EventDict, Processor

from core.process.terminal import printable_event

WINDOW_S = 60.0
MOST_KEPT = 1_000

_Key = tuple[tuple[str, str], ...]


class _Shown(msgspec.Struct, kw_only=True):
    """An event that was shown, and how often it has come since."""

    event: EventDict
    until_s: float
    """Monotonic time up to which equal events are counted."""
    count: int = 0


class RepeatCounter:
    """Renders events as the last processor of a chain.

    Events are equal if all of them but the time is. The first is shown; those of the next
    `WINDOW_S` seconds are counted, and shown as one event with `repeated`, their number, as soon as
    another event comes after that time. Of different events the last `MOST_KEPT` are compared.
    """

    def __init__(self, render: Processor, *, monotonic_s: Callable[[], float] = time.monotonic):
        self._render = render
        self._monotonic_s = monotonic_s
        self._shown: OrderedDict[_Key, _Shown] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, logger: object, method: str, event: EventDict) -> str:
        """Return the lines to print. Raises DropEvent where there are none."""
        with self._lock:
            lines = [*self._ended(), *self._added(event)]
        if not lines:
            raise structlog.DropEvent
        return "\n".join(self._rendered(each) for each in lines)

    def drain(self) -> list[str]:
        """Return the lines of all that was counted and not shown, and forget it."""
        with self._lock:
            rest = [_summed(shown) for shown in self._shown.values() if shown.count]
            self._shown.clear()
        return [self._rendered(event) for event in rest]

    def _rendered(self, event: EventDict) -> str:
        return str(self._render(None, "", {**event}))

    def _added(self, event: EventDict) -> Iterator[EventDict]:
        key = tuple(sorted((name, repr(event[name])) for name in event if name != "timestamp"))
        known = self._shown.get(key)
        if known is not None:
            known.count += 1
            known.event = event
            return
        if len(self._shown) >= MOST_KEPT:
            _, oldest = self._shown.popitem(last=False)
            if oldest.count:
                yield _summed(oldest)
        self._shown[key] = _Shown(event=event, until_s=self._monotonic_s() + WINDOW_S)
        yield event

    def _ended(self) -> Iterator[EventDict]:
        """Forget the events whose time has ended; the oldest stand first."""
        now_s = self._monotonic_s()
        while self._shown and next(iter(self._shown.values())).until_s <= now_s:
            _, shown = self._shown.popitem(last=False)
            if shown.count:
                yield _summed(shown)


def _summed(shown: _Shown) -> EventDict:
    return {**shown.event, "repeated": shown.count}


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
