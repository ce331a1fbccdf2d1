"""How a process of ours logs."""

import logging
import sys

import structlog

from config.terminal import printable_event


def configure_log() -> None:
    """Log to stderr. A trace names files and lines alone.

    structlog's own default prints the values of variables too, and with them callers' keys.
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
