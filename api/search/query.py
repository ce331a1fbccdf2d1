"""Readings of a text in the search box: an address, a name, a chain, or a link.

Pure: nothing is looked up.
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

from config.facts.chain import Chain
from config.facts.chain_names import index_by_name
from core.evm.primitives import Address, parse_address

MOST_CHARS = 500
"""Longer texts are cut: a link to an explorer fits."""

_FILLERS = frozenset({"on", "in"})

_ADDRESS = re.compile(r"(?<![0-9a-z])(?:0x)?([0-9a-f]{40})(?![0-9a-z])", re.IGNORECASE)


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of a typed text."""

    text: str = ""
    """A name or symbol, or the beginning of one; empty next to an address."""
    address: Address | None = None
    chain: Chain | None = None
    """None: any."""


def read_query(
    typed: str, chosen: Chain | None, chains: Sequence[Chain]
) -> tuple[SearchQuery, ...]:
    """Return the readings of a text, the likeliest first; `chosen` is the chain selected in the
    form.

    An address is found with or without 0x, in any letter case, with anything around it, also in a
    link to an explorer or an exchange that names its chain. A chain's name among other words is a
    part of the token's name or the chain to look on: two readings.
    """
    text = " ".join(typed[:MOST_CHARS].split())
    names = index_by_name(chains)
    match = _ADDRESS.search(text)
    if match is not None:
        rest = f"{text[: match.start()]} {text[match.end() :]}"
        address = parse_address(f"0x{match[1]}")
        chain = chosen or _chain_of_explorer(rest, chains) or _chain_in(rest, names)
        return (SearchQuery(address=address, chain=chain),)
    words = [word for word in text.split() if word.lower() not in _FILLERS]
    named = [word for word in words if word.lower() in names]
    whole = SearchQuery(text=text, chain=chosen)
    if chosen is not None or len(named) != 1 or len(words) == 1:
        return (whole,)
    rest = " ".join(word for word in words if word not in named)
    return (whole, SearchQuery(text=rest, chain=names[named[0].lower()]))


def _chain_of_explorer(text: str, chains: Sequence[Chain]) -> Chain | None:
    """Return the chain whose explorer a link in the text leads to."""
    hosts = {host for word in text.split() for host in _parts(word)[:1]}
    return next((one for one in chains if one.explorer and _host(one.explorer) in hosts), None)


def _chain_in(text: str, names: dict[str, Chain]) -> Chain | None:
    """Return the chain named by one part of a link, or by one word. None: none, or several."""
    parts = (part.lower() for word in text.split() for part in _parts(word))
    found = {names[part].slug for part in parts if part in names}
    return names[found.pop()] if len(found) == 1 else None


def _parts(word: str) -> list[str]:
    """Return a word, or the parts of a link that may name its chain: host, labels, and path.

    Other parts of a link are left out: numbers there rarely are chain ids.
    """
    host = _host(word)
    if not host:
        return [word]
    return [host, *host.split("."), *urlsplit(word).path.split("/")]


def _host(link: str) -> str:
    """Return the host of a link in lower case; empty for any other text."""
    try:
        return (urlsplit(link).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
