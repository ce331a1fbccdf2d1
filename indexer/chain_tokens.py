"""In-memory copy of one chain's tracked tokens, kept equal to the table of tokens."""

from collections.abc import Iterable, Sequence

import numpy as np

from core.evm.primitives import Address
from core.process.arrays import ByteArray
from indexer.tracked_tokens import (
    NOT_TRACKED,
    AddressKeys,
    FoundTokens,
    TokenColumns,
    TrackedTokens,
)
from sql.engine.columns import blob
from sql.engine.store import Readable
from sql.tokens.tokens import (
    PackedPlaces,
    TokenChange,
    find_newest_token_id,
    list_changes,
    pack_places,
)

_ADDRESS_BYTES = 20


class ChainTokens:
    """Tracked tokens of one chain. Contains only committed tokens, so a rollback needs no repair.

    Not for concurrent use.
    """

    def __init__(self, chain_id: int) -> None:
        self._chain_id = chain_id
        self._tokens = TrackedTokens.empty()
        self._newest_id = 0
        self._last_change = 0
        self._own: TrackedTokens | None = None
        """Tokens that the open transaction has added, or seen in earlier blocks."""

    def refresh(self, store: Readable) -> None:
        """Load tokens that any process has committed since the last call. Raises StoreError.

        Called first in a transaction. The first call reads all tokens, which takes seconds where
        there are millions: make it on a snapshot, where no other process waits for it.
        """
        self._own = None
        newest_id = find_newest_token_id(store, chain_id=self._chain_id)
        pages = self._read_pages(store)
        if len(self._tokens):
            for columns in pages:
                self._tokens.add(*columns)
        else:
            at_most = max(0, newest_id - self._newest_id)  # the newest may be gone
            self._tokens = TrackedTokens.of_pages(pages, at_most=at_most)
        # In a file of all chains: additions of other chains are not searched again at each block.
        self._newest_id = newest_id
        changes = list_changes(store, chain_id=self._chain_id, after=self._last_change)
        if changes:
            self._take_over(changes)
            self._last_change = changes[-1].change

    def look_ahead(self, tx: Readable) -> None:
        """Load tokens that the open transaction has added, or seen in earlier blocks, until the
        next refresh. It must not have removed any. Raises StoreError."""
        changes = list_changes(tx, chain_id=self._chain_id, after=self._last_change)
        pages = [*self._read_pages(tx), *_changed_columns(changes)]
        self._own = None
        if pages:
            addresses, ids, first_seen = (np.concatenate(part) for part in zip(*pages, strict=True))
            # For a token that occurs twice the last row is right: it was changed after it was
            # added.
            last = {token_id: at for at, token_id in enumerate(ids.tolist())}
            rows = np.fromiter(last.values(), np.intp, len(last))
            self._own = TrackedTokens(addresses[rows], ids[rows], first_seen[rows])

    def find(self, addresses: ByteArray) -> FoundTokens:
        """Look up addresses, uint8[n, 20], among the committed tokens and those that the open
        transaction has changed, which take precedence."""
        keys = AddressKeys.of(addresses)
        found = self._tokens.find(keys)
        if self._own is None:
            return found
        own = self._own.find(keys)
        is_own = own.token_id != NOT_TRACKED
        return FoundTokens(
            token_id=np.where(is_own, own.token_id, found.token_id),
            first_seen_block=np.where(is_own, own.first_seen_block, found.first_seen_block),
        )

    def _take_over(self, changes: Sequence[TokenChange]) -> None:
        self._tokens.remove(change.token_id for change in changes)
        for columns in _changed_columns(changes):
            self._tokens.add(*columns)

    def _read_pages(self, store: Readable) -> Iterable[TokenColumns]:
        above = self._newest_id
        while (page := pack_places(store, chain_id=self._chain_id, above=above)).numbers:
            columns = _unpack(page)
            yield columns
            above = int(columns[1][-1])


def _changed_columns(changes: Sequence[TokenChange]) -> list[TokenColumns]:
    """Return columns of the tokens that are still tracked, each as it was last changed."""
    last = {
        change.token_id: (change.token_id, change.address, change.first_seen_block)
        for change in changes
        if change.address is not None and change.first_seen_block is not None
    }
    return [_columns(last.values())] if last else []


def _columns(places: Iterable[tuple[int, Address, int]]) -> TokenColumns:
    ids, addresses, first_seen = zip(*places, strict=True)
    joined = np.frombuffer(b"".join(map(blob, addresses)), np.uint8)
    return (
        joined.reshape(-1, _ADDRESS_BYTES),
        np.array(ids, np.int32),
        np.array(first_seen, np.int64),
    )


def _unpack(page: PackedPlaces) -> TokenColumns:
    addresses = np.frombuffer(page.addresses, np.uint8).reshape(-1, _ADDRESS_BYTES)
    numbers = np.frombuffer(page.numbers, ">u8").reshape(-1, 2)
    return addresses, numbers[:, 0].astype(np.int32), numbers[:, 1].astype(np.int64)
