"""Background look-ups about a token: its creator, and its past transfers."""

from core.evm.primitives import Address
from sql.engine.store import Store
from sql.tokens.creator_tables import read_creator
from sql.tokens.task_queue import put_task
from sql.tokens.tokens import read_token

_WORTH = 1_000_000
"""Worth of a requested look-up: above all others; see transfer_history."""


def look_up_again(store: Store, *, chain_id: int, address: Address, now_s: float) -> None:
    """Make the look-ups of a token's unknown creator and past transfers due.

    Known values are final and stay. Does nothing for an untracked token. Raises StoreError.
    """
    with store.transaction(chain_id=chain_id) as tx:
        token = read_token(tx, chain_id=chain_id, address=address)
        if token is None:
            return
        due_s = int(now_s)
        if read_creator(tx, chain_id=chain_id, token=address) is None:
            put_task(tx, "creator", token=token, worth=_WORTH, due_s=due_s)
        # A complete history has nothing left to fetch, and its task is dropped when it is taken.
        put_task(tx, "history", token=token, worth=_WORTH, due_s=due_s)
