"""Related tokens on the chain of an analysed token.

By same or similar code, by creator, by the creator's funder, and by look-alike names. Read with a
bounded number of seeks from indexes that are written with each report.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from core.evm.primitives import Address
from core.text.look_alikes import skeleton
from sql.engine.columns import blob
from sql.engine.store import Readable
from sql.tokens.code_shapes import StoredShape, find_shape_of, list_alike
from sql.tokens.funder_tables import count_funded, read_funder
from sql.tokens.search_entries import HIGHEST_TIER, MOST_TERM_CHARS

MOST_COUNTED = 200
"""Kin read of each list; more are not counted."""

LEAST_LIKENESS: Final = 0.85
"""Least likeness of similar code. `tests/harness/kin/shape_scores.py` measures precision and
recall."""

_MOST_SHAPES: Final = 40
"""Similar shapes whose tokens are read, the most alike first."""


class Kin(msgspec.Struct, frozen=True, kw_only=True):
    """One related token, from its last report."""

    address: Address
    name: str
    symbol: str
    scanned_at_s: int
    """Unix seconds."""
    verdict: str | None
    """None: the report has no verdict."""
    can_sell: bool | None
    """None: not known."""
    liquidity_usd: float | None
    """Liquidity of all its pools. None: no pool was found, or one has unknown liquidity."""


class SimilarKin(msgspec.Struct, frozen=True, kw_only=True):
    """One token with similar code."""

    kin: Kin
    likeness: float
    """Estimated share of behaviour that the two codes have in common, 0 to 1."""


class CodeKin(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens with the same or similar code."""

    shape: bytes
    """Digest of the token's code graphs."""
    same: Sequence[Kin]
    """Tokens with the same digest, last tracked first."""
    similar: Sequence[SimilarKin]
    """The most alike first."""


class FunderKin(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens whose creators have the same funder."""

    funder: Address
    accounts: int
    """Looked-up accounts that it funded, up to one above 200: an exchange pays out to many."""
    tokens: Sequence[Kin]
    """Tokens of other creators, last funded first."""


class KinLists(msgspec.Struct, frozen=True, kw_only=True):
    """Related tokens of one token, each list with up to one above MOST_COUNTED."""

    creator: Address | None
    """None: not known."""
    same_creator: Sequence[Kin] | None
    """Last tracked first. None: the creator is not known."""
    funder: FunderKin | None
    """None: not known."""
    code: CodeKin | None
    """None: the shape of its code is not known."""
    look_alikes: Sequence[Kin]
    """Tokens with look-alike names, the largest liquidity first."""


class _Token(msgspec.Struct, frozen=True, kw_only=True):
    token_id: int
    symbol: str
    creator: Address | None


def find_kin(store: Readable, *, chain_id: int, address: Address) -> KinLists | None:
    """Return the related tokens of a token. None: it has no report. Raises StoreError."""
    token = store.fetch_one("kin/find_token", _Token, chain_id=chain_id, address=blob(address))
    if token is None:
        return None
    shape = find_shape_of(store, token_id=token.token_id)
    return KinLists(
        creator=token.creator,
        same_creator=_of_creator(store, chain_id, token),
        funder=_of_funder(store, chain_id, token),
        code=None if shape is None else _of_code(store, chain_id, token, shape),
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


def _of_funder(store: Readable, chain_id: int, token: _Token) -> FunderKin | None:
    if token.creator is None:
        return None
    known = read_funder(store, chain_id=chain_id, account=token.creator)
    if known is None or known.funder is None:
        return None
    tokens = store.fetch(
        "kin/list_by_funder",
        Kin,
        chain_id=chain_id,
        funder=blob(known.funder),
        creator=blob(token.creator),
        at_most=MOST_COUNTED + 1,
    )
    accounts = count_funded(store, chain_id=chain_id, funder=known.funder)
    return FunderKin(funder=known.funder, accounts=accounts, tokens=tokens)


def _of_code(store: Readable, chain_id: int, token: _Token, shape: StoredShape) -> CodeKin:
    similar: list[SimilarKin] = []
    alike = list_alike(store, shape, chain_id=chain_id, at_least=LEAST_LIKENESS)
    for one in alike[:_MOST_SHAPES]:
        missing = MOST_COUNTED + 1 - len(similar)
        if missing <= 0:
            break
        found = _of_shape(store, token, one.shape_id, at_most=missing)
        similar += [SimilarKin(kin=kin, likeness=one.likeness) for kin in found]
    return CodeKin(
        shape=shape.digest,
        same=_of_shape(store, token, shape.shape_id, at_most=MOST_COUNTED + 1),
        similar=similar,
    )


def _of_shape(store: Readable, token: _Token, shape_id: int, *, at_most: int) -> list[Kin]:
    return store.fetch(
        "kin/list_by_shape", Kin, shape_id=shape_id, token_id=token.token_id, at_most=at_most
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
