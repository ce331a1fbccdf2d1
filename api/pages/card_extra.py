"""Availability of share cards: Pillow, a tenth of a full installation, is an extra."""

from functools import cache
from importlib.util import find_spec

from core.errors import MissingExtraError


@cache
def why_no_cards() -> MissingExtraError | None:
    """Return the missing package. None: cards can be drawn."""
    return None if find_spec("PIL") else MissingExtraError(extra="cards", package="pillow")
