"""Search of analysed tokens by name or symbol: a few seeks a chain, whatever their number is."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec

from core.evm.primitives import Address, Hash32
from core.text.look_alikes import skeleton, skeleton_words
from sql.engine.columns import blob
from sql.engine.store import Readable
from sql.tokens.search_entries import HIGHEST_TIER, MOST_TERM_CHARS, tier_of

_AFTER_EVERY_CHAR = "\U0010ffff"
_BEFORE_EVERY_CHAR = "\x01"
"""Of those a term may have: PostgreSQL's texts have no NUL."""

_READ_OF_ONE_TIER = 50
"""Tokens read of one chain, tier and term: of more than these, all within a factor of ten, those
first in the order of terms are seen."""

Match = Literal["symbol", "like_symbol", "name", "begins_symbol", "begins_name"]
"""How a token matches, best first. like_symbol: by its skeleton only."""

MATCHES: tuple[Match, ...] = ("symbol", "like_symbol", "name", "begins_symbol", "begins_name")


class FoundToken(msgspec.Struct, frozen=True, kw_only=True):
    """One analysed token, as its last report names it."""

    chain_id: int
    address: Address
    name: str
    symbol: str
    block_hash: Hash32
    scanned_at_s: int
    """Unix seconds."""
    usd: float
    """What its pools hold beside the token itself."""

    @property
    def tier(self) -> int:
        """Return the digits of the money before the point."""
        return tier_of(self.usd)


Namesakes: TypeAlias = dict[tuple[int, str], FoundToken]
"""By chain id and skeleton of a symbol, the token with the most money that has such a symbol."""


def find_tokens(
    store: Readable, text: str, *, chain_ids: Sequence[int], at_most: int
) -> list[FoundToken]:
    """Return the tokens whose symbol or name begins with the text or with what looks like it.

    Those that match best come first, of equal matches those with the most money. None for a text
    without a letter, digit or symbol. Raises StoreError.
    """
    keys = _keys(text)
    found: dict[tuple[int, Address], FoundToken] = {}
    for suffix in (_BEFORE_EVERY_CHAR, _AFTER_EVERY_CHAR):  # the term itself, then longer ones
        for tier in range(HIGHEST_TIER, -1, -1):
            if len(found) >= at_most:
                break
            for chain_id in chain_ids:
                for key in keys:
                    rows = _list_terms(store, chain_id, tier, low=key, high=key + suffix)
                    found |= {(row.chain_id, row.address): row for row in rows}
    ranked = sorted(
        found.values(),
        key=lambda one: (MATCHES.index(match_of(one, text)), -one.usd, one.chain_id, one.address),
    )
    return ranked[:at_most]


def find_by_address(
    store: Readable, address: Address, *, chain_ids: Sequence[int]
) -> list[FoundToken]:
    """Return the analysed tokens at an address, at most one a chain. Raises StoreError."""
    found = (
        store.fetch_one(
            "search/find_by_address", FoundToken, chain_id=chain_id, address=blob(address)
        )
        for chain_id in chain_ids
    )
    return [token for token in found if token is not None]


def match_of(token: FoundToken, text: str) -> Match:
    """Return how a token that was found matches the text."""
    key = skeleton(text)
    symbol = skeleton(token.symbol)
    if folded(token.symbol) == folded(text):
        return "symbol"
    if symbol == key:
        return "like_symbol"
    if skeleton(token.name) == key:
        return "name"
    return "begins_symbol" if symbol.startswith(key) else "begins_name"


def find_richest_namesakes(store: Readable, names: Iterable[tuple[int, str]]) -> Namesakes:
    """Return, by chain id and skeleton of a symbol, the token with the most money among those of
    the chain whose symbol looks like it; one that has no such token is left out.

    `names`: chain ids with symbols. One statement a tier, however many names. Raises StoreError.
    """
    open_names = {(chain_id, skeleton(symbol)) for chain_id, symbol in names}
    open_names = {name for name in open_names if name[1]}
    found: dict[tuple[int, str], FoundToken] = {}
    for tier in range(HIGHEST_TIER, -1, -1):
        if not open_names:
            break
        richest: dict[tuple[int, str], FoundToken] = {}
        for row in _list_namesakes(store, open_names, tier):
            name = (row.chain_id, skeleton(row.symbol))
            if name in open_names and (name not in richest or richest[name].usd < row.usd):
                richest[name] = row
        found |= richest
        open_names -= richest.keys()
    return found


def _list_namesakes(
    store: Readable, names: Iterable[tuple[int, str]], tier: int
) -> list[FoundToken]:
    asked = sorted({(chain_id, key[:MOST_TERM_CHARS]) for chain_id, key in names})
    return store.fetch(
        "search/list_namesakes",
        FoundToken,
        asked=msgspec.json.encode(asked).decode(),
        tier=tier,
        at_most=_READ_OF_ONE_TIER,
    )


def list_newest(store: Readable, *, at_most: int) -> list[FoundToken]:
    """Return the tokens that came to be tracked last and have been analysed. Raises StoreError."""
    return store.fetch("search/list_newest", FoundToken, at_most=at_most)


def list_richest(store: Readable, *, above_usd: float, at_most: int) -> list[FoundToken]:
    """Return the tokens with the most money in their pools. Raises StoreError."""
    return store.fetch("search/list_richest", FoundToken, above_usd=above_usd, at_most=at_most)


def folded(text: str) -> str:
    """Return the text as people compare it who look at nothing but letter case."""
    return unicodedata.normalize("NFC", text.strip()).casefold()


def _keys(text: str) -> list[str]:
    """Return the terms to look up: the text's words, and the same in one."""
    words = skeleton_words(text)
    texts = (" ".join(words), "".join(words))
    return list(dict.fromkeys(key[:MOST_TERM_CHARS] for key in texts if key))


def _list_terms(
    store: Readable, chain_id: int, tier: int, *, low: str, high: str
) -> Iterable[FoundToken]:
    return store.fetch(
        "search/list_terms",
        FoundToken,
        chain_id=chain_id,
        tier=tier,
        low=low,
        high=high,
        at_most=_READ_OF_ONE_TIER,
    )
