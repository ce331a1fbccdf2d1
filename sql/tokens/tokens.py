"""Tracked tokens: which are followed, why, and from which block their transfers are stored."""

import binascii
from collections.abc import Mapping
from typing import Literal

import msgspec

from core.evm.primitives import Address
from sql.engine.columns import blob, bound_blob
from sql.engine.database import Transaction
from sql.engine.store import Readable
from sql.engine.table_rows import TokenRow
from sql.tokens.task_queue import NEW_WORTH

_PLACES_READ = 20_000
"""Tokens read at once: they take about 4 MB meanwhile."""

Because = Literal["pool", "launch", "request"]


class PackedPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """What decoding needs of tracked tokens, without an object for each: there are millions."""

    addresses: bytes
    """20 bytes of each token."""
    numbers: bytes
    """Id and first block of each, 8 bytes each, big-endian."""


class TokenChange(msgspec.Struct, frozen=True, kw_only=True):
    """One token that ceased to be tracked, its pool or launch reorganised away, or that was seen in
    an earlier block than before."""

    change: int
    """Number of the change: later ones are higher."""
    token_id: int
    address: Address | None
    """None: it is not tracked any more."""
    first_seen_block: int | None
    """As it is now. None: it is not tracked any more."""


def track_seen(
    tx: Transaction, *, chain_id: int, seen: Mapping[Address, int], because: Because
) -> None:
    """Track these tokens from now on; for tracked ones the earliest block is kept.

    `seen`: the block where each was first seen: that of pool or launch, or the head at a request. A
    request is stored, so that the token stays when its pools are reorganised away. A token with a
    pool or a launch is due for analysis at once.
    """
    is_request = because == "request"
    places = [(bound_blob(address), block_number) for address, block_number in seen.items()]
    tx.execute_many(
        "tokens/track_token",
        (
            (chain_id, address, because, block_number, block_number if is_request else None)
            for address, block_number in places
        ),
    )
    if not is_request:
        tx.execute_many(
            "tasks/add_refresh", ((NEW_WORTH, chain_id, address) for address, _ in places)
        )


def track_tokens(
    tx: Transaction, *, chain_id: int, seen: Mapping[Address, int], because: Because
) -> list[TokenRow]:
    """Track tokens as `track_seen` does, and return them as they are stored now."""
    track_seen(tx, chain_id=chain_id, seen=seen, because=because)
    found = [read_token(tx, chain_id=chain_id, address=address) for address in seen]
    return [token for token in found if token is not None]


def set_transfers_from(tx: Transaction, *, token_id: int, block_number: int) -> None:
    """Record that all transfers of the token from the block on are stored.

    An earlier recorded block is kept.
    """
    tx.execute("tokens/set_transfers_from", token_id=token_id, block_number=block_number)


def complete_transfers(tx: Transaction, *, chain_id: int, first: int) -> None:
    """Record from where on the follow stream stores all transfers of the tokens that it meets for
    the first time, or once more after a reorg.

    `first` is the first block of the span that is being stored. Called once its tokens are tracked.
    """
    tx.execute("tokens/recomplete_transfers", chain_id=chain_id, first=first)
    tx.execute("tokens/complete_transfers", chain_id=chain_id, first=first)


def tracked(store: Readable, *, chain_id: int) -> list[TokenRow]:
    """Return all tracked tokens of a chain, oldest first."""
    return store.fetch("tokens/list_tracked", TokenRow, chain_id=chain_id)


def pack_places(store: Readable, *, chain_id: int, above: int) -> PackedPlaces:
    """Return the next tracked tokens of a chain with an id above `above`, by id; with nothing in
    it, there are no more."""
    ((addresses, numbers),) = store.fetch_tuples(
        "tokens/list_places", chain_id=chain_id, above=above, at_most=_PLACES_READ
    )
    return PackedPlaces(addresses=addresses or b"", numbers=binascii.unhexlify(numbers or ""))


def newest_token_id(store: Readable, *, chain_id: int) -> int:
    """Return an id at or above which a chain's tokens have been committed, and above which those
    that come will be; 0 if there is none yet."""
    ((newest,),) = store.fetch_tuples("tokens/find_newest", chain_id=chain_id)
    return int(newest)


def list_changes(store: Readable, *, chain_id: int, after: int = 0) -> list[TokenChange]:
    """Return what happened to known tokens after the change `after`, in order."""
    return store.fetch("tokens/list_changes", TokenChange, chain_id=chain_id, after=after)


def read_token(store: Readable, *, chain_id: int, address: Address) -> TokenRow | None:
    """Return one token, or None when it is not tracked."""
    return store.fetch_one("tokens/find_token", TokenRow, chain_id=chain_id, address=blob(address))
