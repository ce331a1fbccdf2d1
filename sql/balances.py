"""Exact balances by all final transfers, and the largest holders of a token.

A balance is what came minus what went, so it is negative where older transfers are missing. A token
with many owners has a list of its largest balances and a bound that no other balance exceeds: its
top holders are found without reading the others, and proved to be the top holders.
"""

import heapq
from collections.abc import Mapping

import msgspec

from core.primitives import ZERO_ADDRESS, Address, RawAmount
from sql.columns import blob
from sql.exact_numbers import from_blob, to_blob
from sql.sqlite_file import Transaction
from sql.store import Readable, Store
from sql.tokens import read_token
from sql.transfer_tables import recent_changes

MANY_OWNERS = 5_000
"""Owners above which the largest balances are listed; below, all are read in a few milliseconds."""

_LISTED = 1_000
_MOST_LISTED = 2_000
_LEAST_LISTED = 100

_NOBODY = blob(ZERO_ADDRESS)
_OWNER_BYTES = 20


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """Net balance of one address from the stored transfers."""

    owner: Address
    amount_raw: RawAmount


class Holdings(msgspec.Struct, frozen=True, kw_only=True):
    """Net balances from the stored transfers of one token."""

    top: tuple[Holding, ...] = ()
    """Balances above 0, largest first."""
    held_raw: int = 0
    """Sum of all positive balances but the zero address's. Exceeds 256 bits where a token emits
    made-up amounts."""
    is_overdrawn: bool = False
    """True if some address sent more than it received: older transfers are missing, or never
    existed."""


class _Total(msgspec.Struct, kw_only=True):
    """All balances of a token together."""

    token_id: int
    owners: int = 0
    overdrawn: int = 0
    held: bytes = b""
    bound: bytes | None = None


class _Stored(msgspec.Struct, frozen=True, kw_only=True):
    value: bytes


class BalanceWriter:
    """Adds changes to the balances inside one transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def add(self, token_id: int, changes: Mapping[bytes, int]) -> None:
        """Add to the balances of one token, by the owner's 20 bytes. A balance of zero is not
        kept."""
        total = _total(self._tx, token_id)
        held = from_blob(total.held)
        changed: dict[bytes, int] = {}
        for owner, change in sorted(changes.items()):
            if change == 0:
                continue
            before = _balance(self._tx, token_id, owner)
            after = before + change
            changed[owner] = after
            total.owners += (after != 0) - (before != 0)
            if owner != _NOBODY:
                held += max(after, 0) - max(before, 0)
                total.overdrawn += (after < 0) - (before < 0)
        total.held = to_blob(held)
        self._put(token_id, changed)
        self._list_largest(total, changed)
        self._tx.execute(
            "balances/put_total",
            token_id=token_id,
            owners=total.owners,
            overdrawn=total.overdrawn,
            held=total.held,
            bound=total.bound,
        )

    def _put(self, token_id: int, changed: Mapping[bytes, int]) -> None:
        kept = (
            (_key(token_id, owner), to_blob(value)) for owner, value in changed.items() if value
        )
        gone = ((_key(token_id, owner),) for owner, value in changed.items() if not value)
        self._tx.execute_many("balances/put_balance", kept)
        self._tx.execute_many("balances/delete_balance", gone)

    def _list_largest(self, total: _Total, changed: Mapping[bytes, int]) -> None:
        """Keep the list of a token with many owners: who ranks before the bound, and the bound."""
        token_id = total.token_id
        if total.bound is None:
            if total.owners > MANY_OWNERS:
                self._list_anew(total, _balances(self._tx, token_id))
            return
        last = _rank(_read_bound(total.bound))
        # A balance of zero is none, even where the bound is negative.
        enter = [item for item in changed.items() if item[1] and _rank(item) <= last]
        leave = [item[0] for item in changed.items() if not item[1] or _rank(item) > last]
        self._tx.execute_many(
            "balances/put_largest", ((token_id, owner, to_blob(value)) for owner, value in enter)
        )
        self._tx.execute_many("balances/delete_largest", ((token_id, owner) for owner in leave))
        listed = _largest(self._tx, token_id)
        if len(listed) > _MOST_LISTED:
            self._list_anew(total, listed)
        elif len(listed) < _LEAST_LISTED:
            self._list_anew(total, _balances(self._tx, token_id))

    def _list_anew(self, total: _Total, balances: Mapping[bytes, int]) -> None:
        """List the largest of these balances, which contain all before the present bound."""
        token_id = total.token_id
        top = heapq.nsmallest(_LISTED, balances.items(), key=_rank)
        self._tx.execute("balances/delete_all_largest", token_id=token_id)
        if len(top) < _LISTED:
            total.bound = None  # few owners are left: all are read
            return
        owner, value = top[-1]
        total.bound = owner + to_blob(value)
        self._tx.execute_many(
            "balances/put_largest", ((token_id, owner, to_blob(value)) for owner, value in top)
        )


def top_holders(
    store: Readable, *, chain_id: int, token: Address, at_most: int
) -> tuple[Holding, ...]:
    """Return the largest balances above 0 by the stored transfers, largest first; none when the
    token is not tracked.

    These are candidates to be verified on chain: stored transfers may start after the token did,
    and a token may change balances without a transfer.
    """
    if isinstance(store, Store):
        with store.snapshot() as reader:
            return top_holders(reader, chain_id=chain_id, token=token, at_most=at_most)
    tracked = read_token(store, chain_id=chain_id, address=token)
    if tracked is None:
        return ()
    total = _total(store, tracked.token_id)
    changes = recent_changes(store, token_id=tracked.token_id)
    return tuple(
        Holding(owner=Address("0x" + owner.hex()), amount_raw=RawAmount(value))
        for owner, value in _top(store, total, changes, at_most)
    )


def holders_of(store: Readable, *, chain_id: int, token: Address, at_most: int) -> Holdings:
    """Return the largest holders, and what all balances add up to; nothing when the token is not
    tracked.

    Reads the balance of every owner that the transfers touched which are not final yet.
    """
    if isinstance(store, Store):
        with store.snapshot() as reader:
            return holders_of(reader, chain_id=chain_id, token=token, at_most=at_most)
    tracked = read_token(store, chain_id=chain_id, address=token)
    if tracked is None:
        return Holdings()
    token_id = tracked.token_id
    total = _total(store, token_id)
    held, overdrawn = from_blob(total.held), total.overdrawn
    for owner, change in recent_changes(store, token_id=token_id).items():
        if change and owner != _NOBODY:
            before = _balance(store, token_id, owner)
            after = before + change
            held += max(after, 0) - max(before, 0)
            overdrawn += (after < 0) - (before < 0)
    return Holdings(
        top=top_holders(store, chain_id=chain_id, token=token, at_most=at_most),
        held_raw=held,
        is_overdrawn=overdrawn > 0,
    )


def _top(
    store: Readable, total: _Total, changes: Mapping[bytes, int], at_most: int
) -> list[tuple[bytes, int]]:
    """Return the largest positive balances, largest first, owners of equal ones in order.

    `changes`: what transfers that are not final yet add to owners' balances.
    """
    if total.bound is not None:
        bound = _read_bound(total.bound)
        found = _top_of_listed(store, total.token_id, changes, at_most, bound[1])
        # Who is neither listed nor touched ranks after the bound.
        if len(found) == at_most and _rank(found[-1]) <= _rank(bound):
            return found
    everybody = _balances(store, total.token_id)
    for owner, change in changes.items():
        everybody[owner] = everybody.get(owner, 0) + change
    return _ranked(everybody, at_most)


def _top_of_listed(
    store: Readable, token_id: int, changes: Mapping[bytes, int], at_most: int, most: int
) -> list[tuple[bytes, int]]:
    """Return the largest of the listed balances and of those that may have come to exceed them.

    `most`: no balance that is not listed was above it.
    """
    known = {
        owner: value + changes.get(owner, 0) for owner, value in _largest(store, token_id).items()
    }
    best = heapq.nlargest(at_most, known.values())
    least = best[-1] if len(best) == at_most else 0
    for owner, change in changes.items():
        if owner not in known and change > 0 and most + change >= least:
            known[owner] = _balance(store, token_id, owner) + change
    return _ranked(known, at_most)


def _total(store: Readable, token_id: int) -> _Total:
    found = store.fetch_one("balances/find_total", _Total, token_id=token_id)
    return found or _Total(token_id=token_id)


def _rank(item: tuple[bytes, int]) -> tuple[int, bytes]:
    """Return the key by which owners and their balances are ranked: no two have the same rank."""
    owner, value = item
    return -value, owner


def _read_bound(stored: bytes) -> tuple[bytes, int]:
    """Return owner and balance of a bound."""
    return stored[:_OWNER_BYTES], from_blob(stored[_OWNER_BYTES:])


def _ranked(balances: Mapping[bytes, int], at_most: int) -> list[tuple[bytes, int]]:
    positive = ((owner, value) for owner, value in balances.items() if value > 0)
    return heapq.nsmallest(at_most, positive, key=_rank)


def _key(token_id: int, owner: bytes) -> bytes:
    return token_id.to_bytes(4, "big") + owner


def _balance(store: Readable, token_id: int, owner: bytes) -> int:
    stored = store.fetch_tuples("balances/find_balance", key=_key(token_id, owner))
    return from_blob(stored[0][0]) if stored else 0


def _balances(store: Readable, token_id: int) -> dict[bytes, int]:
    rows = store.fetch_tuples(
        "balances/list_of_token", first=_key(token_id, b""), end=_key(token_id + 1, b"")
    )
    return {key[4:]: from_blob(value) for key, value in rows}


def _largest(store: Readable, token_id: int) -> dict[bytes, int]:
    rows = store.fetch_tuples("balances/list_largest", token_id=token_id)
    return {owner: from_blob(value) for owner, value in rows}
