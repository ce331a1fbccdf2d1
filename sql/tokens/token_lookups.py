"""Look-ups about a token that go on behind its reports: its creator, and its past transfers."""

from core.evm.primitives import Address
from sql.engine.store import Store
from sql.tokens.creator_tables import read_creator
from sql.tokens.task_queue import put_task
from sql.tokens.tokens import read_token

_WORTH = 1_000_000
"""Before what nobody asked for; see transfer_history."""


def look_up_again(store: Store, *, chain_id: int, address: Address, now_s: float) -> None:
    """Have what is not known of a token's creator and past transfers looked up soon.

    What is known is final and stays as it is. Does nothing for a token that is not tracked. Raises
    StoreError.
    """
    with store.transaction(chain_id=chain_id) as tx:
        token = read_token(tx, chain_id=chain_id, address=address)
        if token is None:
            return
        due_s = int(now_s)
        if read_creator(tx, chain_id=chain_id, token=address) is None:
            put_task(tx, "creator", token=token, worth=_WORTH, due_s=due_s)
        # A history that is whole has nothing left to fetch, and is dropped at its turn.
        put_task(tx, "history", token=token, worth=_WORTH, due_s=due_s)
