"""Exact balances from all final transfers, and the largest holders of a token.

A balance is the sum of incoming minus outgoing amounts, so it is negative if older transfers are
missing. A token with many owners has a list of its largest balances and a bound that no other
balance exceeds: its top holders are found, and proved to be the top, without reading the others.
"""

import heapq
from collections.abc import Collection, Mapping, Sequence

import msgspec

from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount
from sql.chain.transfer_tables import read_recent_changes
from sql.engine.columns import blob
from sql.engine.database import Reader, Transaction
from sql.engine.exact_numbers import from_blob, to_blob
from sql.engine.store import Readable, Store
from sql.tokens.tokens import read_token

MANY_OWNERS = 5_000
"""Number of owners above which the largest balances are listed; below, all are read in a few
milliseconds."""

MOST_MOVING = 20_000
"""Transfers of a token that are not final yet and that `read_balances` reads."""

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
    """Sum of all positive balances except the zero address's. Exceeds 256 bits if a token emits
    made-up amounts."""
    is_overdrawn: bool = False
    """True if an address sent more than it received: older transfers are missing, or never
    existed."""


class _Total(msgspec.Struct, kw_only=True):
    """Totals over all balances of a token."""

    token_id: int
    owners: int = 0
    overdrawn: int = 0
    positive: bytes = b""
    """Sum of all positive balances."""
    bound: bytes | None = None


class _Stored(msgspec.Struct, frozen=True, kw_only=True):
    value: bytes


class BalanceWriter:
    """Adds changes to the balances inside one transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def add(self, by_token: Mapping[int, Mapping[bytes, int]]) -> None:
        """Add to the balances of tokens, by id and by the owner's 20 bytes. Balances of zero are
        deleted.

        Takes all tokens in one call: each round trip to a remote database costs time.
        """
        token_ids = sorted(by_token)
        owners = {
            token_id: sorted(owner for owner, change in by_token[token_id].items() if change)
            for token_id in token_ids
        }
        before = _balances_of(self._tx, owners)
        totals = _totals(self._tx, token_ids)
        changed = {
            token_id: _add_to(totals[token_id], by_token[token_id], before[token_id])
            for token_id in token_ids
        }
        self._put(changed)
        for token_id, of_token in changed.items():
            self._list_largest(totals[token_id], of_token)
        self._tx.execute_many(
            "balances/put_total",
            (
                (total.token_id, total.owners, total.overdrawn, total.positive, total.bound)
                for total in totals.values()
            ),
        )

    def _put(self, changed: Mapping[int, Mapping[bytes, int]]) -> None:
        rows = [
            (_key(token_id, owner), value)
            for token_id, of_token in changed.items()
            for owner, value in of_token.items()
        ]
        self._tx.execute_many(
            "balances/put_balance", ((key, to_blob(value)) for key, value in rows if value)
        )
        self._tx.execute_many(
            "balances/delete_balance", ((key,) for key, value in rows if not value)
        )

    def _list_largest(self, total: _Total, changed: Mapping[bytes, int]) -> None:
        """Update the list of a token with many owners: the owners ranked above the bound."""
        token_id = total.token_id
        if total.bound is None:
            if total.owners > MANY_OWNERS:
                self._list_anew(total, _balances(self._tx, token_id))
            return
        last = _rank(_read_bound(total.bound))
        # A balance of zero is not listed, even if the bound is negative.
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
        """List the largest of these balances, which include all above the current bound."""
        token_id = total.token_id
        top = heapq.nsmallest(_LISTED, balances.items(), key=_rank)
        self._tx.execute("balances/delete_all_largest", token_id=token_id)
        if len(top) < _LISTED:
            total.bound = None  # few owners are left, so all are read
            return
        owner, value = top[-1]
        total.bound = owner + to_blob(value)
        self._tx.execute_many(
            "balances/put_largest", ((token_id, owner, to_blob(value)) for owner, value in top)
        )


def read_top_holders(
    store: Readable, *, chain_id: int, token: Address, at_most: int
) -> tuple[Holding, ...]:
    """Return the largest balances above 0 from the stored transfers, largest first; none if the
    token is not tracked.

    These are candidates to verify on chain: stored transfers may start after the token, and a token
    may change balances without a transfer.
    """
    if isinstance(store, Store):
        with store.snapshot() as reader:
            return read_top_holders(reader, chain_id=chain_id, token=token, at_most=at_most)
    tracked = read_token(store, chain_id=chain_id, address=token)
    if tracked is None:
        return ()
    total = _total(store, tracked.token_id)
    changes = read_recent_changes(store, token_id=tracked.token_id)
    return tuple(
        Holding(owner=Address("0x" + owner.hex()), amount_raw=RawAmount(value))
        for owner, value in _top(store, total, changes, at_most)
    )


def read_holders(store: Readable, *, chain_id: int, token: Address, at_most: int) -> Holdings:
    """Return the largest holders, and the totals over all balances; empty if the token is not
    tracked.

    Reads the balance of every owner in a transfer that is not final yet.
    """
    if isinstance(store, Store):
        with store.snapshot() as reader:
            return read_holders(reader, chain_id=chain_id, token=token, at_most=at_most)
    tracked = read_token(store, chain_id=chain_id, address=token)
    if tracked is None:
        return Holdings()
    token_id = tracked.token_id
    total = _total(store, token_id)
    positive_raw, overdrawn = from_blob(total.positive), total.overdrawn
    changes = read_recent_changes(store, token_id=token_id)
    touched = [owner for owner, change in changes.items() if change and owner != _NOBODY]
    for owner, before in _balances_of(store, {token_id: touched})[token_id].items():
        after = before + changes[owner]
        positive_raw += max(after, 0) - max(before, 0)
        overdrawn += (after < 0) - (before < 0)
    return Holdings(
        top=read_top_holders(store, chain_id=chain_id, token=token, at_most=at_most),
        held_raw=positive_raw,
        is_overdrawn=overdrawn > 0,
    )


def read_balances(
    reader: Reader, *, token_id: int, owners: Collection[bytes]
) -> dict[bytes, int] | None:
    """Return the balances of these owners from the stored transfers, by 20 bytes.

    None: more than MOST_MOVING of the token's transfers are not final yet. A balance below 0 lacks
    older transfers.
    """
    moving = reader.fetch_tuples(
        "transfers/list_first_of_token", token_id=token_id, at_most=MOST_MOVING + 1
    )
    if len(moving) > MOST_MOVING:
        return None
    balances = _balances_of(reader, {token_id: list(owners)})[token_id]
    for sender, recipient, amount in moving:
        value = from_blob(amount)
        if recipient in balances:
            balances[recipient] += value
        if sender in balances:
            balances[sender] -= value
    return balances


def count_holders(store: Readable, *, chain_id: int, token: Address) -> int | None:
    """Return the accounts with a balance by final transfers. None: not all transfers are stored, or
    the token changes balances without them."""
    if isinstance(store, Store):
        with store.snapshot() as reader:
            return count_holders(reader, chain_id=chain_id, token=token)
    tracked = read_token(store, chain_id=chain_id, address=token)
    if tracked is None or tracked.transfers_from_block is None:
        return None
    total = _total(store, tracked.token_id)
    is_whole = tracked.transfers_from_block <= tracked.first_seen_block
    return total.owners if is_whole and total.owners and not total.overdrawn else None


def _top(
    store: Reader, total: _Total, changes: Mapping[bytes, int], at_most: int
) -> list[tuple[bytes, int]]:
    """Return the largest positive balances, largest first, equal ones in order of owner.

    `changes`: changes of balances by transfers that are not final yet.
    """
    if total.bound is not None:
        bound = _read_bound(total.bound)
        # An owner without a balance is above a negative bound, and is not listed.
        found = _top_of_listed(store, total.token_id, changes, at_most, max(bound[1], 0))
        # An owner that is neither listed nor changed ranks below the bound.
        if len(found) == at_most and _rank(found[-1]) <= _rank(bound):
            return found
    all_balances = _balances(store, total.token_id)
    for owner, change in changes.items():
        all_balances[owner] = all_balances.get(owner, 0) + change
    return _ranked(all_balances, at_most)


def _top_of_listed(
    store: Reader, token_id: int, changes: Mapping[bytes, int], at_most: int, most: int
) -> list[tuple[bytes, int]]:
    """Return the largest of the listed balances and of the changed ones that may exceed them.

    `most`: upper bound of the balances that are not listed.
    """
    known = {
        owner: value + changes.get(owner, 0) for owner, value in _largest(store, token_id).items()
    }
    best = heapq.nlargest(at_most, known.values())
    least = best[-1] if len(best) == at_most else 0
    risen = [
        owner
        for owner, change in changes.items()
        if owner not in known and change > 0 and most + change >= least
    ]
    for owner, before in _balances_of(store, {token_id: risen})[token_id].items():
        known[owner] = before + changes[owner]
    return _ranked(known, at_most)


def _total(reader: Reader, token_id: int) -> _Total:
    return _totals(reader, [token_id])[token_id]


def _totals(reader: Reader, token_ids: Sequence[int]) -> dict[int, _Total]:
    found = reader.fetch_each("balances/find_total", [(token_id,) for token_id in token_ids])
    totals = {token_id: _Total(token_id=token_id) for token_id in token_ids}
    for ((token_id, owners, overdrawn, positive, bound),) in filter(None, found):
        totals[token_id] = _Total(
            token_id=token_id, owners=owners, overdrawn=overdrawn, positive=positive, bound=bound
        )
    return totals


def _rank(item: tuple[bytes, int]) -> tuple[int, bytes]:
    """Return the rank of an owner by balance; ranks are unique."""
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


def _add_to(
    total: _Total, changes: Mapping[bytes, int], before: Mapping[bytes, int]
) -> dict[bytes, int]:
    """Return the new balances of the owners in `before`, and update the token's total."""
    positive_raw = from_blob(total.positive)
    changed = {}
    for owner, balance in before.items():
        after = balance + changes[owner]
        changed[owner] = after
        total.owners += (after != 0) - (balance != 0)
        if owner != _NOBODY:
            positive_raw += max(after, 0) - max(balance, 0)
            total.overdrawn += (after < 0) - (balance < 0)
    total.positive = to_blob(positive_raw)
    return changed


def _balances_of(
    reader: Reader, owners: Mapping[int, Sequence[bytes]]
) -> dict[int, dict[bytes, int]]:
    """Return the balances of these owners of tokens, in the same order; 0 without a balance."""
    places = [(token_id, owner) for token_id, own in owners.items() for owner in own]
    found = reader.fetch_each("balances/find_balance", [(_key(*place),) for place in places])
    balances: dict[int, dict[bytes, int]] = {token_id: {} for token_id in owners}
    for (token_id, owner), rows in zip(places, found, strict=True):
        balances[token_id][owner] = from_blob(rows[0][0]) if rows else 0
    return balances


def _balances(store: Readable, token_id: int) -> dict[bytes, int]:
    rows = store.fetch_tuples(
        "balances/list_of_token", first=_key(token_id, b""), end=_key(token_id + 1, b"")
    )
    return {key[4:]: from_blob(value) for key, value in rows}


def _largest(store: Readable, token_id: int) -> dict[bytes, int]:
    rows = store.fetch_tuples("balances/list_largest", token_id=token_id)
    return {owner: from_blob(value) for owner, value in rows}
