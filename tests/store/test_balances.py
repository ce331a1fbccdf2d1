"""Protects balances and holders: the plain sum of all transfers at every moment.

Through any order of finalization, and any history of the list of the largest.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount
from sql.chain import balances
from sql.chain.balances import Holding, Holdings, read_holders
from sql.chain.finalization import finalize_rows
from sql.chain.transfer_tables import insert_transfers
from sql.engine.columns import blob
from sql.engine.store import Store
from sql.engine.table_rows import TransferRow
from sql.tokens.tokens import track_tokens
from tests.harness.examples import one_in
from tests.harness.store.empty_files import NewStore
from tests.harness.store.sample_rows import address
from tests.harness.store.store_contents import exact_number, read_rows

TOKENS = [address(0xA), address(0xB)]
NOBODY = 0
OWNERS = 16

Key = tuple[int, int]


class Move(msgspec.Struct, frozen=True):
    """One transfer. `amount` None: the sender's balance, divided."""

    token: int
    sender: int
    recipient: int
    amount: int | None
    divisor: int = 1
    is_old: bool = False
    """True if its block was finalized already, as the back-fill of a history brings it."""


class Finalize(msgspec.Struct, frozen=True):
    """Finalization up to a distance below the newest block, in steps of some rows."""

    lag: int
    at_most: int
    steps: int


owners = st.integers(0, OWNERS - 1)
small = st.integers(0, 9)
edges = st.sampled_from([2**255, 2**256 - 1]) | st.integers(0, 2**256 - 1)
tokens = st.sampled_from([0, 0, 0, 1])
mints = st.builds(Move, tokens, st.just(NOBODY), owners, small, is_old=st.booleans())
honest = st.builds(Move, tokens, owners, owners, st.none(), st.integers(1, 3), st.booleans())
made_up = st.builds(Move, tokens, owners, owners, small | edges, is_old=st.booleans())
finalized = st.builds(Finalize, st.integers(0, 3), st.integers(1, 9), st.integers(1, 4))
steps = st.one_of(mints, mints, honest, honest, finalized)
hostile_steps = steps | made_up


@contextmanager
def small_lists(*, many: int = 4, listed: int = 4, most: int = 6, least: int = 2) -> Iterator[None]:
    """The bounds of the list of the largest, so that a dozen owners exercise all of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(balances, "MANY_OWNERS", many)
        patch.setattr(balances, "_LISTED", listed)
        patch.setattr(balances, "_MOST_LISTED", most)
        patch.setattr(balances, "_LEAST_LISTED", least)
        yield


class Played:
    """A store and the plain sums of its input."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.sums: list[Counter[Address]] = [Counter(), Counter()]
        self.final: list[Counter[Address]] = [Counter(), Counter()]
        self.waiting: list[tuple[int, int, Move, int]] = []
        """Block, log index, move and amount, of those that are not final."""
        self.height = 0
        with store.transaction() as tx:
            rows = track_tokens(tx, chain_id=1, seen=dict.fromkeys(TOKENS, 0), because="pool")
            self.ids = [row.token_id for row in rows]

    def play(self, step: Move | Finalize) -> None:
        if isinstance(step, Move):
            self.move(step)
        else:
            self.finalize(step)

    def move(self, step: Move) -> None:
        """Move in a new block; an old move has a new log index in block 0."""
        self.height += 1
        sums = self.sums[step.token]
        balance = max(sums[address(step.sender)], 0) % 2**256 // step.divisor
        amount = balance if step.amount is None else step.amount
        block_number, log_index = (0, self.height) if step.is_old else (self.height, 0)
        row = TransferRow(
            block_number=block_number,
            log_index=log_index,
            token_id=self.ids[step.token],
            sender=blob(address(step.sender)),
            recipient=blob(address(step.recipient)),
            amount_raw=RawAmount(amount),
        )
        with self.store.transaction() as tx:
            assert insert_transfers(tx, [row], chain_id=1) == 1
        add(sums, step, amount)
        self.waiting.append((block_number, log_index, step, amount))

    def finalize(self, step: Finalize) -> None:
        final = max(self.height - step.lag, 0)
        for _ in range(step.steps):
            due = sorted(one for one in self.waiting if one[0] <= final)[: step.at_most]
            done = finalize_rows(self.store, chain_id=1, final=final, at_most=step.at_most)
            assert done == len(due)
            for one in due:
                self.waiting.remove(one)
                add(self.final[one[2].token], one[2], one[3])

    def assert_holders(self, at_most: int) -> None:
        for token, sums in zip(TOKENS, self.sums, strict=True):
            found = read_holders(self.store, chain_id=1, token=token, at_most=at_most)
            assert found == expected(sums, at_most)

    def assert_tables(self) -> None:
        """Balances are those of the final transfers, and the list matches them."""
        for number, sums in zip(self.ids, self.final, strict=True):
            kept = {owner: value for owner, value in sums.items() if value}
            assert stored_balances(self.store, number) == kept
            listed = listed_balances(self.store, number)
            totals = read_rows(
                self.store, "select owners, bound from token_balance where token_id = ?", number
            )
            for count, bound in totals:
                assert count == len(kept)
                if bound is None:
                    assert not listed
                    assert len(kept) <= max(balances.MANY_OWNERS, balances._LISTED - 1)
                    continue
                last = -exact_number("0x" + str(bound)[42:]), str(bound)[:42]
                assert listed.items() <= kept.items()
                before = {owner for owner, value in kept.items() if (-value, owner) <= last}
                assert before == listed.keys()
                assert balances._LEAST_LISTED <= len(listed) <= balances._MOST_LISTED


def add(sums: Counter[Address], step: Move, amount: int) -> None:
    sums[address(step.sender)] -= amount
    sums[address(step.recipient)] += amount


def expected(sums: Counter[Address], at_most: int) -> Holdings:
    ranked = sorted((-value, owner) for owner, value in sums.items() if value > 0)
    others = [value for owner, value in sums.items() if owner != ZERO_ADDRESS]
    return Holdings(
        top=tuple(
            Holding(owner=owner, amount_raw=RawAmount(-value)) for value, owner in ranked[:at_most]
        ),
        held_raw=sum(value for value in others if value > 0),
        is_overdrawn=any(value < 0 for value in others),
    )


def stored_balances(store: Store, token_id: int) -> dict[Address, int]:
    rows = read_rows(
        store,
        "select substr(key, 5), value from balance where substr(key, 1, 4) = ?",
        token_id.to_bytes(4, "big"),
    )
    return {Address(str(owner)): exact_number(str(value)) for owner, value in rows}


def listed_balances(store: Store, token_id: int) -> dict[Address, int]:
    rows = read_rows(store, "select owner, value from largest where token_id = ?", token_id)
    return {Address(str(owner)): exact_number(str(value)) for owner, value in rows}


ALL_AT_ONCE = Finalize(0, 100, 1)
HANDED_OUT = [Move(0, NOBODY, owner, 10 + owner) for owner in range(1, OWNERS)]
BIG_OWNERS_LEAVE = [
    *HANDED_OUT,
    ALL_AT_ONCE,
    *(Move(0, owner, NOBODY, None) for owner in range(OWNERS - 1, 3, -1)),
    ALL_AT_ONCE,
]
TIED_AT_THE_BOUND = [
    *(Move(0, NOBODY, owner, 7) for owner in range(1, OWNERS)),
    ALL_AT_ONCE,
    Move(0, 5, 5, 7),
    Move(0, 1, 2, 7),
    ALL_AT_ONCE,
]
FALLEN_BELOW = [
    *HANDED_OUT,
    ALL_AT_ONCE,
    *(Move(0, owner, 1, 9) for owner in range(OWNERS - 1, OWNERS - 4, -1)),
    ALL_AT_ONCE,
]
RISEN_ABOVE = [
    *HANDED_OUT,
    ALL_AT_ONCE,
    *(Move(0, NOBODY, owner, 100) for owner in range(1, 12)),
    ALL_AT_ONCE,
]


TIED_LATE = [
    *(Move(0, NOBODY, owner, 7) for owner in range(5, OWNERS)),
    ALL_AT_ONCE,
    Move(0, NOBODY, 1, 7),
    ALL_AT_ONCE,
]
ONE_ABOVE = [
    *(Move(0, NOBODY, owner, 7) for owner in range(1, OWNERS)),
    ALL_AT_ONCE,
    Move(0, NOBODY, 14, 1),
    ALL_AT_ONCE,
]
OVERDRAWN_AND_BACK = [
    Move(0, 1, 2, 5),
    ALL_AT_ONCE,
    Move(0, 1, 2, 1),
    ALL_AT_ONCE,
    Move(0, NOBODY, 1, 6),
    ALL_AT_ONCE,
]
BOUND_BELOW_NOTHING = [
    Move(0, NOBODY, 5, 4),
    Move(0, NOBODY, 3, 1),
    Move(0, 1, 2, 1),
    ALL_AT_ONCE,
    Move(0, NOBODY, 4, 4),
]
"""One of the listed is overdrawn, so those without a balance are above the bound."""


@settings(max_examples=one_in(1))
@given(
    played=st.lists(steps, min_size=15, max_size=60) | st.lists(hostile_steps, max_size=60),
    at_most=st.sampled_from([1, 2, 3, 25]),
)
@example(played=BIG_OWNERS_LEAVE, at_most=2)
@example(played=TIED_AT_THE_BOUND, at_most=3)
@example(played=FALLEN_BELOW, at_most=2)
@example(played=RISEN_ABOVE, at_most=3)
@example(played=TIED_LATE, at_most=3)
@example(played=ONE_ABOVE, at_most=1)
@example(played=OVERDRAWN_AND_BACK, at_most=1)
@example(played=BOUND_BELOW_NOTHING, at_most=1)
def test_holders_are_the_plain_sum_at_every_moment(
    temporary_store: NewStore, played: Sequence[Move | Finalize], at_most: int
) -> None:
    with small_lists(), temporary_store() as store:
        game = Played(store)
        for step in played:
            game.play(step)
            game.assert_holders(at_most)
            if isinstance(step, Finalize):
                game.assert_tables()
        game.play(Finalize(0, 7, 10))
        game.assert_holders(at_most)
        game.assert_tables()


@settings(max_examples=one_in(2))
@given(played=st.lists(mints | honest | made_up, min_size=20, max_size=40), data=st.data())
def test_the_list_of_the_largest_holds_all_above_its_bound(
    temporary_store: NewStore, played: Sequence[Move], data: st.DataObject
) -> None:
    """With as few listed as can be, in steps as small as can be."""
    with small_lists(many=3, listed=2, most=3, least=1), temporary_store() as store:
        game = Played(store)
        for step in played:
            game.play(step)
            if data.draw(st.booleans()):
                game.play(Finalize(0, 1, 1))
                game.assert_tables()
        game.assert_holders(2)


def test_top_holders_of_many_are_read_from_the_list(
    temporary_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as they are above its bound: without reading the balances of all others."""
    with small_lists(), temporary_store() as store:
        game = Played(store)
        played: list[Move | Finalize] = [*HANDED_OUT, ALL_AT_ONCE, Move(0, NOBODY, 1, 2)]
        for step in played:
            game.play(step)

        def refuse(*_: object) -> dict[bytes, int]:
            raise AssertionError

        monkeypatch.setattr(balances, "_balances", refuse)
        found = read_holders(store, chain_id=1, token=TOKENS[0], at_most=3)
        assert found == expected(game.sums[0], 3)
        with pytest.raises(AssertionError):  # more than are known to be the largest
            read_holders(store, chain_id=1, token=TOKENS[0], at_most=5)


def test_equal_balances_of_many_are_read_from_the_list(
    temporary_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An airdrop must not make each look-up read all of its owners."""
    with small_lists(), temporary_store() as store:
        game = Played(store)
        for owner in range(1, balances.MANY_OWNERS + 5):
            game.play(Move(0, NOBODY, owner, 7))
        game.play(ALL_AT_ONCE)

        def refuse(*_: object) -> dict[bytes, int]:
            raise AssertionError

        monkeypatch.setattr(balances, "_balances", refuse)
        found = read_holders(store, chain_id=1, token=TOKENS[0], at_most=3)
        assert found == expected(game.sums[0], 3)


def test_lists_of_two_chains_are_apart(temporary_store: NewStore) -> None:
    """A token of each at the same address."""
    with temporary_store() as store:
        for chain_id, amount in ((1, 5), (56, 9)):
            with store.transaction() as tx:
                (token,) = track_tokens(tx, chain_id=chain_id, seen={TOKENS[0]: 0}, because="pool")
                row = TransferRow(
                    block_number=1,
                    log_index=0,
                    token_id=token.token_id,
                    sender=blob(address(0)),
                    recipient=blob(address(1)),
                    amount_raw=RawAmount(amount),
                )
                insert_transfers(tx, [row], chain_id=chain_id)
        assert finalize_rows(store, chain_id=56, final=1) == 1
        for chain_id, amount in ((1, 5), (56, 9)):
            (first,) = read_holders(store, chain_id=chain_id, token=TOKENS[0], at_most=2).top
            assert first.amount_raw == amount
