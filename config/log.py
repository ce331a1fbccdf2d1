"""Logging setup of the process."""

import logging
import sys

import structlog

from core.terminal import printable_event


def configure_log() -> None:
    """Configure logging to stderr, with tracebacks of files and lines only.

    structlog's own default also prints the values of variables, and with them callers' keys.
    """
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.StackInfoRenderer(),
            structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S", utc=True),
            structlog.processors.format_exc_info,
            printable_event,
            structlog.dev.ConsoleRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
