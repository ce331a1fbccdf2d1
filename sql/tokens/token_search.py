"""Search of analysed tokens by name or symbol, in a few seeks per chain."""

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
"""The lowest character of a term: PostgreSQL's texts have no NUL."""

_READ_OF_ONE_TIER = 50
"""Tokens read of one chain, tier and term; of more, all within a factor of ten in liquidity, the
first in the order of terms are read."""

Match = Literal["symbol", "like_symbol", "name", "begins_symbol", "begins_name"]
"""Kind of a match, best first. like_symbol: by its skeleton only."""

MATCHES: tuple[Match, ...] = ("symbol", "like_symbol", "name", "begins_symbol", "begins_name")


class FoundToken(msgspec.Struct, frozen=True, kw_only=True):
    """One analysed token, with the names of its last report."""

    chain_id: int
    address: Address
    name: str
    symbol: str
    block_hash: Hash32
    scanned_at_s: int
    """Unix seconds."""
    usd: float
    """Value of the other side of its pools."""

    @property
    def tier(self) -> int:
        """Return the number of integer digits of the value."""
        return tier_of(self.usd)


Namesakes: TypeAlias = dict[tuple[int, str], FoundToken]
"""Token with the most liquidity among those with a symbol, by chain id and symbol's skeleton."""


def find_tokens(
    store: Readable, text: str, *, chain_ids: Sequence[int], at_most: int
) -> list[FoundToken]:
    """Return the tokens whose symbol or name begins with the text or a look-alike of it.

    The best matches come first, equal ones by liquidity. Returns no tokens for a text without a
    letter, digit or symbol. Raises StoreError.
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
    """Return the analysed tokens at an address, at most one per chain. Raises StoreError."""
    found = (
        store.fetch_one(
            "search/find_by_address", FoundToken, chain_id=chain_id, address=blob(address)
        )
        for chain_id in chain_ids
    )
    return [token for token in found if token is not None]


def match_of(token: FoundToken, text: str) -> Match:
    """Return the kind of match between a found token and the text."""
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
    """Return the token with the most liquidity for each chain id and look-alike of a symbol.

    `names`: chain ids with symbols; those without a token are left out. Runs one statement per
    tier. Raises StoreError.
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
    terms = sorted({(chain_id, key[:MOST_TERM_CHARS]) for chain_id, key in names})
    return store.fetch(
        "search/list_namesakes",
        FoundToken,
        terms=msgspec.json.encode(terms).decode(),
        tier=tier,
        at_most=_READ_OF_ONE_TIER,
    )


def list_newest(store: Readable, *, at_most: int) -> list[FoundToken]:
    """Return the analysed tokens that were tracked last. Raises StoreError."""
    return store.fetch("search/list_newest", FoundToken, at_most=at_most)


def list_richest(store: Readable, *, above_usd: float, at_most: int) -> list[FoundToken]:
    """Return the tokens with the most liquidity. Raises StoreError."""
    return store.fetch("search/list_richest", FoundToken, above_usd=above_usd, at_most=at_most)


def folded(text: str) -> str:
    """Return the text for comparison without regard to case."""
    return unicodedata.normalize("NFC", text.strip()).casefold()


def _keys(text: str) -> list[str]:
    """Return the terms to look up: the text's words, separated and joined."""
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
