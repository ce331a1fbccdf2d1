"""Kin of an analysed token on its chain: tokens of the same creator, and of look-alike names.

Read from the indexes that are written with each report: bounded seeks, whatever their number is.
"""

from collections.abc import Sequence

import msgspec

from core.look_alikes import skeleton
from core.primitives import Address
from sql.columns import blob
from sql.search_entries import HIGHEST_TIER, MOST_TERM_CHARS
from sql.store import Readable

MOST_COUNTED = 200
"""Kin read of each list; more are not counted."""


class Kin(msgspec.Struct, frozen=True, kw_only=True):
    """One kin, as its last report has it."""

    address: Address
    name: str
    symbol: str
    scanned_at_s: int
    """Unix seconds."""
    verdict: str | None
    """None: the report was not judged."""
    can_sell: bool | None
    """None: not known."""
    liquidity_usd: float | None
    """Of all its pools. None: no pool was found, or what one holds is not known."""


class KinLists(msgspec.Struct, frozen=True, kw_only=True):
    """Kin of one token, each list with at most one above MOST_COUNTED."""

    creator: Address | None
    """None: not known."""
    same_creator: Sequence[Kin] | None
    """Last tracked first. None: the creator is not known."""
    look_alikes: Sequence[Kin]
    """Those with the most money in their pools first."""


class _Token(msgspec.Struct, frozen=True, kw_only=True):
    token_id: int
    symbol: str
    creator: Address | None


def find_kin(store: Readable, *, chain_id: int, address: Address) -> KinLists | None:
    """Return the kin of a token. None: the token has no report. Raises StoreError."""
    token = store.fetch_one("kin/find_token", _Token, chain_id=chain_id, address=blob(address))
    if token is None:
        return None
    return KinLists(
        creator=token.creator,
        same_creator=_of_creator(store, chain_id, token),
        look_alikes=_look_alikes(store, chain_id, token),
    )


def _of_creator(store: Readable, chain_id: int, token: _Token) -> list[Kin] | None:
    if token.creator is None:
        return None
    return store.fetch(
        "kin/list_by_creator",
        Kin,
        chain_id=chain_id,
        creator=blob(token.creator),
        token_id=token.token_id,
        at_most=MOST_COUNTED + 1,
    )


def _look_alikes(store: Readable, chain_id: int, token: _Token) -> list[Kin]:
    """Return the tokens whose symbol or name looks like the token's symbol."""
    term = skeleton(token.symbol)[:MOST_TERM_CHARS]
    found: list[Kin] = []
    for tier in range(HIGHEST_TIER, -1, -1):
        missing = MOST_COUNTED + 1 - len(found)
        if not term or missing <= 0:
            break
        found += store.fetch(
            "kin/list_by_term",
            Kin,
            chain_id=chain_id,
            tier=tier,
            term=term,
            token_id=token.token_id,
            at_most=missing,
        )
    return found
