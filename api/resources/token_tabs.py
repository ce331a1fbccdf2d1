"""Tabs of the pages of one token, from the table of its resources."""

from collections.abc import Iterator
from typing import Final

import msgspec

from api.resources.token_resources import TOKEN_RESOURCES


class TokenTab(msgspec.Struct, frozen=True, kw_only=True):
    """One tab."""

    path: str
    """Last segment of the page's path. Empty: the page of the findings."""
    words: str


def _tabs() -> Iterator[TokenTab]:
    yield TokenTab(path="", words="Findings")
    for resource in TOKEN_RESOURCES:
        if resource.page is not None and resource.page.tab:
            yield TokenTab(path=resource.path, words=resource.page.tab)


TOKEN_TABS: Final = tuple(_tabs())
"""All tabs, in the order of the table."""
