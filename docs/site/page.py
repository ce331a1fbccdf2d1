"""A page generated while the site is built."""

import msgspec


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One generated page with its place in the navigation."""

    path: str
    """Path below `docs/`."""
    title: str
    text: str
    """Markdown."""
    group: str | None = None
    """Heading above it in the navigation, if any."""
