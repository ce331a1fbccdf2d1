"""Formatting of times in answers."""

from datetime import UTC, datetime


def iso_utc(time_s: float) -> str:
    """Return ISO 8601 in UTC, whole seconds, with `Z`."""
    return datetime.fromtimestamp(int(time_s), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
