"""A page of the site that is made when the site is built."""

import msgspec


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Its place, its text, and where the navigation has it."""

    path: str
    """Below `docs/`."""
    title: str
    text: str
    """Markdown."""
    group: str | None = None
    """Heading over it in the navigation. None: none."""
