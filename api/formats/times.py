"""Times in answers."""

from datetime import UTC, datetime


def iso_utc(time_s: float) -> str:
    """ISO 8601 in UTC, whole seconds, `Z`."""
    return datetime.fromtimestamp(int(time_s), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
