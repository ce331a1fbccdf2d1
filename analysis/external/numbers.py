"""Parsing of numbers from external services: sent as numbers, as strings, or not at all."""

import math

Figure = float | str | None


def positive(figure: Figure) -> float | None:
    """Return the number. None: absent, no number, not finite, or not above 0."""
    if figure is None:
        return None
    try:
        number = float(figure)
    except ValueError:
        return None
    return number if math.isfinite(number) and number > 0 else None
