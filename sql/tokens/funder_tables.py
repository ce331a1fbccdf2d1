"""Funders of creators and early buyers: the sources of their first coins, each looked up once."""

from typing import Final

import msgspec

from core.evm.primitives import Address
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store
from sql.engine.table_rows import FunderRow, TokenRow
from sql.tokens.task_queue import add_task, drop_task, put_task

MOST_ACCOUNTS: Final = 200
"""Accounts of one funder that are counted."""


class CreatedToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token with the creator in its report."""

    chain_id: int
    address: Address
    creator: Address


class _Count(msgspec.Struct, frozen=True, kw_only=True):
    accounts: int


def read_created(store: Readable, *, token_id: int) -> CreatedToken | None:
    """Return a token with its creator. None: there is no report, or it has no creator."""
    return store.fetch_one("funders/find_creator", CreatedToken, token_id=token_id)


def read_funder(store: Readable, *, chain_id: int, account: Address) -> FunderRow | None:
    """Return the source of an account's first coins. None: it was not looked up yet."""
    return store.fetch_one(
        "funders/find_funder", FunderRow, chain_id=chain_id, account=blob(account)
    )


def count_funded(store: Readable, *, chain_id: int, funder: Address) -> int:
    """Count the looked-up accounts that this account funded, up to one above MOST_ACCOUNTS."""
    found = store.fetch_one(
        "funders/count_funded",
        _Count,
        chain_id=chain_id,
        funder=blob(funder),
        at_most=MOST_ACCOUNTS + 1,
    )
    return 0 if found is None else found.accounts


def plan_funder(tx: Transaction, *, token: TokenRow, creator: Address, now_s: int) -> None:
    """Plan a look-up of the creator's funder, unless it has been looked up."""
    if read_funder(tx, chain_id=token.chain_id, account=creator) is None:
        add_task(tx, "funder", token=token, worth=now_s, due_s=now_s)


def write_funder(store: Store, row: FunderRow, token: TokenRow) -> None:
    """Store a funder, and drop the look-up. Raises StoreError."""
    with store.transaction(chain_id=row.chain_id) as tx:
        tx.insert("funder", [row], on_conflict="replace")
        drop_task(tx, "funder", token_id=token.token_id)


def drop_funder_task(store: Store, token: TokenRow) -> None:
    """Drop the look-up of the creator's funder. Raises StoreError."""
    with store.transaction(chain_id=token.chain_id) as tx:
        drop_task(tx, "funder", token_id=token.token_id)


def put_off_funder_task(store: Store, token: TokenRow, *, until_s: int) -> None:
    """Postpone the look-up of the creator's funder to a Unix time. Raises StoreError."""
    with store.transaction(chain_id=token.chain_id) as tx:
        put_task(tx, "funder", token=token, worth=0, due_s=until_s)
