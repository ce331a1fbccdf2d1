"""Shapes of contract code: one row per chain and shape, shared by its tokens.

Written with each report. A new shape gets its places in the bands that find similar shapes; a token
whose shape is unchanged writes nothing.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from core.evm.code_shape import SHAPE_VERSION, CodeShape, bands_of, likeness
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store

KEPT_PLACES: Final = 16
"""Places under one key whose shapes stay; as many more are reused by later shapes."""

_DELETED_AT_ONCE: Final = 1_000


class StoredShape(msgspec.Struct, frozen=True, kw_only=True):
    """One shape of a chain."""

    shape_id: int
    digest: bytes
    sketch: bytes


class AlikeShape(msgspec.Struct, frozen=True, kw_only=True):
    """Another shape of the chain."""

    shape_id: int
    likeness: float
    """Estimated share of common features among all features of the two."""


class _Id(msgspec.Struct, frozen=True, kw_only=True):
    shape_id: int


class _Candidate(msgspec.Struct, frozen=True, kw_only=True):
    shape_id: int
    sketch: bytes


def put_shape(tx: Transaction, *, token_id: int, chain_id: int, shape: CodeShape | None) -> None:
    """Store or replace the shape of a token's code. None: it is not known."""
    if shape is None:
        delete_shape(tx, token_id)
        return
    where = {"chain_id": chain_id, "version": SHAPE_VERSION, "digest": shape.digest}
    found = tx.fetch_one("shapes/find_id", _Id, **where)
    shape_id = _added(tx, chain_id, shape) if found is None else found.shape_id
    tx.execute("shapes/put_token", token_id=token_id, shape_id=shape_id)


def delete_shape(tx: Transaction, token_id: int) -> None:
    """Delete the link of a token to its shape. The shape stays for later tokens."""
    tx.execute("shapes/delete_token", token_id=token_id)


def find_shape_of(store: Readable, *, token_id: int) -> StoredShape | None:
    """Return the shape of a token's code. None: not known, or of another version."""
    return store.fetch_one(
        "shapes/find_of_token", StoredShape, token_id=token_id, version=SHAPE_VERSION
    )


def list_alike(
    store: Readable, shape: StoredShape, *, chain_id: int, at_least: float
) -> list[AlikeShape]:
    """Return other shapes of the chain with at least this likeness, the most alike first.

    Shapes that share only bands in which one displaced the other are missing.
    """
    found = store.fetch(
        "shapes/list_alike",
        _Candidate,
        bands=msgspec.json.encode(bands_of(shape.sketch)).decode(),
        chain_id=chain_id,
        version=SHAPE_VERSION,
        shape_id=shape.shape_id,
    )
    alike = [
        AlikeShape(shape_id=one.shape_id, likeness=likeness(shape.sketch, one.sketch))
        for one in found
    ]
    close = [one for one in alike if one.likeness >= at_least]
    return sorted(close, key=lambda one: (-one.likeness, -one.shape_id))


def delete_old_shapes(store: Store, *, chain_ids: Iterable[int]) -> bool:
    """Delete the next shapes of versions before this one; True if more are left. Raises StoreError.

    Their tokens get shapes of this version when they are analysed again.
    """
    is_left = False
    for chain_id in chain_ids:
        with store.transaction(chain_id=chain_id) as tx:
            for query in ("shapes/delete_old_bands", "shapes/delete_old"):
                deleted = tx.execute(
                    query, chain_id=chain_id, version=SHAPE_VERSION, at_most=_DELETED_AT_ONCE
                )
                is_left |= deleted == _DELETED_AT_ONCE
    return is_left


def _added(tx: Transaction, chain_id: int, shape: CodeShape) -> int:
    (new,) = tx.fetch(
        "shapes/insert_shape",
        _Id,
        chain_id=chain_id,
        version=SHAPE_VERSION,
        digest=shape.digest,
        sketch=shape.sketch,
    )
    for band in bands_of(shape.sketch):
        tx.execute(
            "shapes/put_in_band",
            chain_id=chain_id,
            version=SHAPE_VERSION,
            band=band,
            kept=KEPT_PLACES,
            shape_id=new.shape_id,
        )
    return new.shape_id
