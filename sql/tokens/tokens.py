"""Tracked tokens, with the reason and the first block of their stored transfers."""

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
"""Tokens per read: about 4 MB."""

Because = Literal["pool", "launch", "request"]


class PackedPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Packed data of tracked tokens for decoding: objects would be too many."""

    addresses: bytes
    """20 bytes per token."""
    numbers: bytes
    """Id and first block of each token, 8 bytes each, big-endian."""


class TokenChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change of a tracked token.

    Its pool or launch was reorganised away, or it was seen in an earlier block than before.
    """

    change: int
    """Number of the change, ascending."""
    token_id: int
    address: Address | None
    """None: it is no longer tracked."""
    first_seen_block: int | None
    """Current value. None: it is no longer tracked."""


def track_seen(
    tx: Transaction, *, chain_id: int, seen: Mapping[Address, int], because: Because
) -> None:
    """Track these tokens from now on; tracked ones keep the earliest block.

    `seen`: first block of each: that of its pool or launch, or the head at a request. A request is
    stored, so that the token stays when its pools are reorganised away. A token with a pool or a
    launch is due for analysis immediately.
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
    """Track tokens like `track_seen`, and return their rows."""
    track_seen(tx, chain_id=chain_id, seen=seen, because=because)
    found = [read_token(tx, chain_id=chain_id, address=address) for address in seen]
    return [token for token in found if token is not None]


def set_transfers_from(tx: Transaction, *, token_id: int, block_number: int) -> None:
    """Record that all transfers of the token from the block on are stored.

    An earlier recorded block is kept.
    """
    tx.execute("tokens/set_transfers_from", token_id=token_id, block_number=block_number)


def complete_transfers(tx: Transaction, *, chain_id: int, first: int) -> None:
    """Record the first complete block of new tokens of the follow stream.

    Those that are new again after a reorg are included.

    `first` is the first block of the stored span. Call it after tracking the span's tokens.
    """
    tx.execute("tokens/recomplete_transfers", chain_id=chain_id, first=first)
    tx.execute("tokens/complete_transfers", chain_id=chain_id, first=first)


def list_tracked(store: Readable, *, chain_id: int) -> list[TokenRow]:
    """Return all tracked tokens of a chain, oldest first."""
    return store.fetch("tokens/list_tracked", TokenRow, chain_id=chain_id)


def pack_places(store: Readable, *, chain_id: int, above: int) -> PackedPlaces:
    """Return the next tracked tokens of a chain with an id above `above`, by id; empty at the
    end."""
    ((addresses, numbers),) = store.fetch_tuples(
        "tokens/list_places", chain_id=chain_id, above=above, at_most=_PLACES_READ
    )
    return PackedPlaces(addresses=addresses or b"", numbers=binascii.unhexlify(numbers or ""))


def find_newest_token_id(store: Readable, *, chain_id: int) -> int:
    """Return an id that is not below any committed token of a chain, and below all later ones; 0 if
    there is none yet."""
    ((newest,),) = store.fetch_tuples("tokens/find_newest", chain_id=chain_id)
    return int(newest)


def list_changes(store: Readable, *, chain_id: int, after: int = 0) -> list[TokenChange]:
    """Return the changes of tracked tokens after the change `after`, in order."""
    return store.fetch("tokens/list_changes", TokenChange, chain_id=chain_id, after=after)


def read_token(store: Readable, *, chain_id: int, address: Address) -> TokenRow | None:
    """Return one token, or None when it is not tracked."""
    return store.fetch_one("tokens/find_token", TokenRow, chain_id=chain_id, address=blob(address))
