"""Whether share cards can be drawn: Pillow, a tenth of what a wheel installs, is an extra."""

from functools import cache
from importlib.util import find_spec

from core.errors import MissingExtraError


@cache
def why_no_cards() -> MissingExtraError | None:
    """Return what is missing. None: cards can be drawn."""
    return None if find_spec("PIL") else MissingExtraError(extra="cards", package="pillow")
