"""On-chain observations about watched tokens, and the analyses that they make due.

Observations of a block and their tasks are written in one transaction, so a crash loses neither. A
reorg removes observations together with their blocks.
"""

import math
from collections.abc import Sequence

import msgspec

from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.evm.primitives import Address, BlockRef, Hash32
from core.report.notifications import ObservationKind
from core.report.report import ReportRow
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store
from sql.engine.table_rows import TokenRow
from sql.tokens.task_queue import NEW_WORTH, add_task, drop_task, put_task

CHANGED_WORTH = 2 * NEW_WORTH
"""Worth of a watched token that changed: above all unwatched ones."""

_DELETED_AT_ONCE = 1_000


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One observation in one block about one watched token."""

    chain_id: int
    block_number: int
    block_time_s: int
    token_id: int
    kind: ObservationKind
    tx_hash: Hash32 | None = None
    """None: no single transaction is known."""
    sender: Address | None = None
    """Signer of the transaction. None: not known."""
    what: str
    """Subject of the observation, by kind.

    call: selector. parameter_event, ownership_event: name of the event, or its topic 0.
    pool_created, liquidity, other_tax: the pool. state: contract and slot. failed_trade: buy, sell
    or unknown. deadline: block or timestamp, and its value. gap: first and last of those blocks.
    """
    detail: str | None = None
    """Values before and after, a reason, or arguments. None: there are none."""


class StoredObservation(Observation, frozen=True, kw_only=True):
    """A stored observation."""

    observation_id: int
    """Ascends in the order of writing; never reused."""


class ObservationPace(msgspec.Struct, frozen=True, kw_only=True):
    """Delay between observations and their analysis."""

    every_blocks: int
    """Blocks between two analyses of a token that changes in every block."""
    block_time_s: float
    """Nominal time between blocks; a longer wait is never right."""

    def between(self, earlier: BlockRef | None, later: BlockRef) -> "ObservationPace":
        """Return the pace of real blocks, if they are faster than nominal. `earlier` is None if no
        earlier block is known."""
        if earlier is None or later.number <= earlier.number:
            return self
        real_s = max(0, later.time_s - earlier.time_s) / (later.number - earlier.number)
        return msgspec.structs.replace(self, block_time_s=min(self.block_time_s, real_s))

    def delay_s(self, block_number: int, *, report_block: int | None) -> int:
        """Return the seconds from an observation's block to its analysis.

        0 if the last report is `every_blocks` old, or there is none. Otherwise one block, in which
        the change may continue, but not beyond `every_blocks` after the report.
        """
        if report_block is None:
            return 0
        left = report_block + self.every_blocks - block_number
        return 0 if left <= 0 else math.floor(min(1, left) * self.block_time_s)


def pace_of(chain: Chain, settings: IndexerSettings) -> ObservationPace:
    """Return the delay between observations on a chain and their analysis."""
    return ObservationPace(
        every_blocks=settings.changed_every_blocks, block_time_s=chain.block_time_s
    )


class _Token(msgspec.Struct, frozen=True, kw_only=True):
    token_id: int


class _Block(msgspec.Struct, frozen=True, kw_only=True):
    block_number: int | None


class _Time(msgspec.Struct, frozen=True, kw_only=True):
    time_s: int | None


class _Number(msgspec.Struct, frozen=True, kw_only=True):
    number: int


def write_observations(
    tx: Transaction, observations: Sequence[Observation], *, pace: ObservationPace, now_s: float
) -> None:
    """Store observations, and make the analysis of their tokens due. Raises StoreError."""
    tx.insert("observation", observations)
    newest: dict[int, int] = {}
    for one in observations:
        newest[one.token_id] = max(one.block_number, newest.get(one.token_id, 0))
    for token_id, block_number in newest.items():
        report = tx.fetch_one("observations/find_report_block", _Block, token_id=token_id)
        delay_s = pace.delay_s(block_number, report_block=report.block_number if report else None)
        make_due(tx, token_id, due_s=math.floor(now_s) + delay_s)


def write_gap(tx: Transaction, *, chain_id: int, first: int, last: BlockRef, now_s: float) -> int:
    """Record that the blocks `first` to `last` were not read one by one.

    Makes the analysis of watched tokens with an older report due; returns their number.
    """
    missed = tx.fetch(
        "observations/insert_gap",
        _Token,
        chain_id=chain_id,
        first=first,
        last=last.number,
        time_s=last.time_s,
        what=f"{first} to {last.number}",
    )
    for one in missed:
        make_due(tx, one.token_id, due_s=math.floor(now_s))
    return len(missed)


def make_due(tx: Transaction, token_id: int, *, due_s: int) -> None:
    """Make the analysis of a watched token due at a time in Unix seconds."""
    token = tx.fetch_one("tokens/find_by_id", TokenRow, token_id=token_id)
    if token is not None:
        put_task(tx, "changed", token=token, worth=CHANGED_WORTH, due_s=due_s)


def settle_changes(tx: Transaction, token: TokenRow, head: ReportRow) -> None:
    """Settle the observations up to a new report's block.

    Settles nothing if a part of the report is still running, or if its block is orphaned.
    """
    token_id = token.token_id
    tx.execute("watched/raise_revision", token_id=token_id)
    where = {"chain_id": head.chain_id, "number": head.block_number}
    if not head.is_settled or tx.fetch_one(
        "report_history/find_other_hash", _Number, hash=blob(head.block_hash), **where
    ):
        return
    newest = tx.fetch_one("observations/find_newest", _Block, token_id=token_id)
    seen = newest.block_number if newest else None
    if seen is None or seen <= head.block_number:
        drop_task(tx, "changed", token_id=token_id)
    else:  # an earlier analysis has ended after a newer one
        add_task(tx, "changed", token=token, worth=CHANGED_WORTH, due_s=head.scanned_at_s)


def undo_observations_from(tx: Transaction, *, chain_id: int, number: int) -> None:
    """Delete the observations from block `number` on.

    Makes the analysis of watched tokens with a report of these blocks due.
    """
    tx.execute("observations/delete_from", chain_id=chain_id, number=number)
    tx.execute("tasks/put_changed_from", chain_id=chain_id, number=number, worth=CHANGED_WORTH)


def delete_observations(tx: Transaction, token_id: int) -> None:
    """Delete the observations about a token, and the analysis that they made due."""
    tx.execute("observations/delete_of_token", token_id=token_id)
    tx.execute("watched/delete_reserves", token_id=token_id)
    drop_task(tx, "changed", token_id=token_id)


def list_causes(
    store: Readable, token_id: int, *, above: int, up_to: int, at_most: int = 100
) -> list[StoredObservation]:
    """Return the newest observations about a token in the blocks above `above` up to `up_to`,
    newest first.

    Between the blocks of two consecutive reports these are the causes of the second.
    """
    return store.fetch(
        "observations/list_causes",
        StoredObservation,
        token_id=token_id,
        above=above,
        up_to=up_to,
        at_most=at_most,
    )


def find_earliest_after(store: Readable, token_id: int, *, above: int) -> int | None:
    """Return the time of the first observation about a token in a block above `above`, in Unix
    seconds. None: there is none."""
    row = store.fetch_one("observations/find_earliest_after", _Time, token_id=token_id, above=above)
    return None if row is None else row.time_s


def delete_old_observations(store: Store, *, chain_id: int, before_s: float) -> None:
    """Delete observations before a Unix time, in small steps.

    Also deletes the state of tokens that are no longer watched. Raises StoreError.
    """
    with store.transaction() as tx:
        tx.execute("watched/delete_unwatched")
    deleted = _DELETED_AT_ONCE
    while deleted == _DELETED_AT_ONCE:
        with store.transaction() as tx:
            deleted = tx.execute(
                "observations/delete_old",
                chain_id=chain_id,
                before_s=int(before_s),
                at_most=_DELETED_AT_ONCE,
            )


def has_block(store: Readable, *, chain_id: int, block: BlockRef) -> bool:
    """True if a block is stored and may still be unwound."""
    row = store.fetch_one(
        "watched/find_block", _Number, chain_id=chain_id, number=block.number, hash=blob(block.hash)
    )
    return row is not None
