"""Formatting of times in answers."""

from datetime import UTC, datetime


def iso_utc(time_s: float) -> str:
    """Return ISO 8601 in UTC, whole seconds, with `Z`."""
    return datetime.fromtimestamp(int(time_s), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def duration_words(seconds: float) -> str:
    """Return a duration in whole units of the largest that fits: 3 minutes, 1 hour."""
    whole = max(0, int(seconds))
    size, unit = next((pair for pair in _UNITS if whole >= pair[0]), _UNITS[-1])
    number = whole // size
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
