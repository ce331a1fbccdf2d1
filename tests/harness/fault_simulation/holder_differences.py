"""Holders of the store, compared with plain sums of its transfers."""

from core.evm.primitives import Address
from sql.chain.balances import read_holders
from sql.engine.store import Store
from tests.harness.fault_simulation.stored_rows import StoredRows, sums_of

_ALL = 1_000


def holder_differences(store: Store, stored: StoredRows, *, chain_id: int) -> list[str]:
    """Return the differences of all tokens, as text."""
    by_token: dict[str, list[tuple[int, str]]] = {}
    for (token, owner), value in sums_of(stored.transfers).items():
        if value > 0:
            by_token.setdefault(token, []).append((value, owner))
    found = []
    for token in stored.tokens:
        holders = read_holders(store, chain_id=chain_id, token=Address(token), at_most=_ALL)
        expected = sorted(by_token.get(token, []), key=lambda one: (-one[0], one[1]))
        top_holders = [(int(one.amount_raw), str(one.owner)) for one in holders.top]
        if top_holders != expected or holders.held_raw != sum(value for value, _ in expected):
            found.append(f"holders of {token}: {top_holders} in place of {expected}")
    return found
