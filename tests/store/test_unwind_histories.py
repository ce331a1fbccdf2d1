"""Protects reorgs among all other work: the rows equal those of the canonical chain alone.

Forks, requests, analyses and finalization come in any order, and no number is given to a second
token.
"""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.service.record_report import record_report
from core.errors import StoreError
from core.evm.primitives import Address
from sql.chain.balances import read_holders
from sql.chain.blocks import FINAL, list_checkpoints, read_checkpoint
from sql.chain.finalization import finalize_rows
from sql.chain.launch_tables import list_launches
from sql.chain.pool_tables import list_coverage, list_pools
from sql.chain.transfer_tables import insert_transfers
from sql.engine.store import Store
from sql.engine.table_rows import TokenRow
from sql.tokens.tokens import (
    TokenChange,
    list_changes,
    list_tracked,
    read_token,
    set_transfers_from,
    track_tokens,
)
from sql.unwind import unwind_from
from tests.harness.bare_reports import bare_report
from tests.harness.examples import one_in
from tests.harness.store.empty_files import NewStore
from tests.harness.store.sample_rows import LATER
from tests.harness.store.store_contents import (
    all_tables,
    read_rows,
    reopened,
    transfers_of,
    undecoded_in,
)
from tests.harness.store.unwound_facts import QUOTE, TOKENS, Facts, take_in, transfers_at

FINALITY = 3


class Mine(msgspec.Struct, frozen=True):
    blocks: tuple[Facts, ...]


class Fork(msgspec.Struct, frozen=True):
    """Replaces some blocks by others."""

    depth: int
    blocks: tuple[Facts, ...]


class Ask(msgspec.Struct, frozen=True):
    """Request for a token."""

    token: int


class Analyse(msgspec.Struct, frozen=True):
    """A tracked token is analysed in the background."""

    token: int


class FetchOld(msgspec.Struct, frozen=True):
    """Transfers of a tracked token from the first block, which is final."""

    token: int


class Finalized(msgspec.Struct, frozen=True):
    """One step of some rows."""

    at_most: int


Step = Mine | Fork | Ask | Analyse | FetchOld | Finalized

tokens = st.integers(0, len(TOKENS) - 1)
facts = st.builds(
    Facts,
    new_launch=st.none() | tokens,
    new_pool=st.none() | tokens,
    transfers=st.integers(0, 2),
)
some_blocks = st.lists(facts, min_size=1, max_size=4).map(tuple)
chain_steps = st.one_of(
    st.builds(Mine, some_blocks),
    st.builds(Fork, st.integers(1, FINALITY), st.lists(facts, max_size=3).map(tuple)),
    st.builds(Finalized, st.integers(1, 8)),
)
steps = st.one_of(chain_steps, chain_steps, st.builds(Ask, tokens), st.builds(Analyse, tokens))


class Bent:
    """A store that has seen forks, and the chain that is canonical by now."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.chain: list[Facts] = []
        self.requests: set[Address] = set()
        self.ids: dict[int, Address] = {}

    def play(self, step: Step) -> None:
        match step:
            case Mine(blocks):
                self.append(blocks)
            case Fork(depth, blocks):
                self.fork(min(depth, len(self.chain) - 1 - self.final()), blocks)
            case Ask(token):
                self.requests.add(TOKENS[token])
                with self.store.transaction() as tx:
                    seen = {TOKENS[token]: len(self.chain)}
                    track_tokens(tx, chain_id=1, seen=seen, because="request")
            case Analyse(token):
                if self.row(token) is not None:
                    record_report(self.store, bare_report(TOKENS[token], scanned_at_s=1), LATER)
            case FetchOld(token):
                self.fetch_old(token)
            case Finalized(at_most):
                final = len(self.chain) - FINALITY - 2
                finalize_rows(self.store, chain_id=1, final=max(final, -1), at_most=at_most)
        self.note_ids()

    def append(self, blocks: Sequence[Facts]) -> None:
        first = len(self.chain)
        self.chain += blocks
        take_in(self.store, self.chain, first=first)

    def fork(self, depth: int, blocks: Sequence[Facts]) -> None:
        if depth > 0:
            del self.chain[-depth:]
            with self.store.transaction() as tx:
                unwind_from(tx, chain_id=1, number=len(self.chain))
            self.note_ids()
        self.append(blocks)

    def fetch_old(self, token: int) -> None:
        row = self.row(token)
        if row is not None and self.final() >= 0 and row.transfers_from_block != 0:
            with self.store.transaction() as tx:
                old = [
                    msgspec.structs.replace(one, log_index=1_000 + row.token_id)
                    for one in transfers_at(tx, 0, [token], 1)
                ]
                insert_transfers(tx, old, chain_id=1)
                set_transfers_from(tx, token_id=row.token_id, block_number=0)

    def final(self) -> int:
        found = read_checkpoint(self.store, chain_id=1, stream=FINAL)
        return -1 if found is None else found.number

    def row(self, token: int) -> TokenRow | None:
        return read_token(self.store, chain_id=1, address=TOKENS[token])

    def note_ids(self) -> None:
        """Note the numbers: one is a token's for ever, and deletions are announced."""
        now = {row.token_id: row.address for row in list_tracked(self.store, chain_id=1)}
        removed = {one.token_id for one in removals(self.store)}
        assert all(self.ids.get(number, address) == address for number, address in now.items())
        assert self.ids.keys() - now.keys() <= removed
        assert not removed & now.keys()
        self.ids |= now

    def assert_no_orphans(self) -> None:
        """All rows with a token's number belong to an existing token."""
        for table in (
            *(
                "transfer",
                "final_transfer",
                "token_balance",
                "filled_span",
                "history",
                "refusal",
                "task",
                "disagreement",
            ),
            *("report", "report_body", "report_finding", "report_pool", "report_holder"),
            "report_power",
        ):
            lost = f"select token_id from {table} except select token_id from token"  # noqa: S608
            assert read_rows(self.store, lost) == [], table
        for table in ("pool_side", "trade"):
            lost = f"select pool_no from {table} except select pool_no from pool"  # noqa: S608
            assert read_rows(self.store, lost) == [], table


def removals(store: Store) -> list[TokenChange]:
    return [change for change in list_changes(store, chain_id=1) if change.address is None]


def chain_rows(store: Store) -> list[object]:
    """Return the rows that do not depend on tracking."""
    checkpoints = list_checkpoints(store, chain_id=1)
    return [
        read_rows(store, "select number, hash from block order by number"),
        # Below the first block is as good as none.
        [row for row in checkpoints if row.stream != FINAL and row.number >= 0],
        list_coverage(store, chain_id=1),
        list_pools(store, chain_id=1, token=QUOTE),
        [list_pools(store, chain_id=1, token=token) for token in TOKENS],
        [list_launches(store, chain_id=1, token=token) for token in TOKENS],
        undecoded_in(store),
    ]


def token_rows(store: Store, token: Address) -> list[object]:
    """All that is known of one token, without the number it was given."""
    row = read_token(store, chain_id=1, address=token)
    return [
        row if row is None else msgspec.structs.replace(row, token_id=0),
        transfers_of(store, token),
        read_holders(store, chain_id=1, token=token, at_most=100),
    ]


POOL = Facts(new_launch=None, new_pool=0, transfers=1)
LAUNCH = Facts(new_launch=0, new_pool=None, transfers=1)
QUIET = Facts(new_launch=None, new_pool=None, transfers=2)


@settings(max_examples=one_in(1))
@given(played=st.lists(steps, min_size=2, max_size=14))
@example(played=[Mine((LAUNCH, QUIET, POOL)), Fork(1, (QUIET,)), Fork(2, (POOL, QUIET))])
@example(played=[Mine((QUIET, POOL)), Ask(0), Analyse(0), Fork(1, (QUIET,)), Mine((POOL,))])
@example(played=[Mine((QUIET,)), Ask(0), Mine((QUIET, LAUNCH)), Fork(1, (QUIET,))])
@example(played=[Mine((POOL, *[QUIET] * 6)), Finalized(3), Fork(3, (LAUNCH,)), Finalized(8)])
def test_forks_leave_what_the_canonical_chain_gives(
    temporary_store: NewStore, played: Sequence[Step]
) -> None:
    with temporary_store() as store, temporary_store() as straight:
        bent = Bent(store)
        for step in played:
            bent.play(step)
            bent.assert_no_orphans()
        take_in(straight, bent.chain, first=0)
        assert chain_rows(store) == chain_rows(straight)
        for token in TOKENS:
            if token not in bent.requests:
                assert token_rows(store, token) == token_rows(straight, token)
                continue
            # It may have been seen first in a block that is gone: it is followed from there on.
            row, plain = (read_token(one, chain_id=1, address=token) for one in (store, straight))
            assert row is not None
            assert row.requested_at_block is not None
            if plain is None:
                assert row.tracked_because == "request"
            else:
                assert row.tracked_because == plain.tracked_because
                assert row.first_seen_block <= plain.first_seen_block
                own = transfers_of(store, token)
                assert [one for one in transfers_of(straight, token) if one not in own] == []


@settings(max_examples=one_in(2))
@given(played=st.lists(steps | st.builds(FetchOld, tokens), min_size=2, max_size=16))
@example(
    played=[Mine((QUIET,) * 6), Finalized(1), Mine((POOL,)), FetchOld(0), Finalized(8), Fork(1, ())]
)
def test_a_fork_leaves_no_orphans_and_no_final_transfer_without_its_token(
    temporary_store: NewStore,
    played: Sequence[Step],
) -> None:
    with temporary_store() as store:
        bent = Bent(store)
        for step in played:
            bent.play(step)
            bent.assert_no_orphans()


@pytest.mark.parametrize("number", [0, 2, 3])
def test_what_is_final_cannot_be_unwound(store: Store, number: int) -> None:
    take_in(store, [POOL, LAUNCH, *[QUIET] * 6], first=0)
    finalize_rows(store, chain_id=1, final=3, at_most=1)
    before = all_tables(store)
    with pytest.raises(StoreError, match="final"), store.transaction() as tx:
        unwind_from(tx, chain_id=1, number=number)
    assert all_tables(store) == before
    with store.transaction() as tx:
        unwind_from(tx, chain_id=56, number=0)  # another chain's finality
        unwind_from(tx, chain_id=1, number=4)


def test_the_number_of_a_deleted_token_is_not_given_out_again(store: Store) -> None:
    """Not even after the file was opened again."""
    numbers = []
    for _ in range(3):
        take_in(store, [QUIET, POOL], first=0)
        numbers += [row.token_id for row in list_tracked(store, chain_id=1)]
        with store.transaction() as tx:
            unwind_from(tx, chain_id=1, number=1)
            unwind_from(tx, chain_id=1, number=0)
        again = reopened(store)
        assert [one.token_id for one in removals(again)] == numbers
        again.close()
    assert len(set(numbers)) == 3
    assert list_changes(store, chain_id=56) == []
