"""Protects the in-memory tokens of a chain, and the moves that bring any tip to any head."""

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.evm.primitives import Address, BlockRef, Hash32
from indexer.chain_tokens import ChainTokens
from indexer.head.reconcile import Append, CatchUp, NoChange, Unwind, next_step
from indexer.tracked_tokens import NOT_TRACKED
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store
from sql.tokens.tokens import list_tracked, track_seen
from sql.unwind import unwind_from
from tests.harness.examples import one_in
from tests.harness.store.empty_files import temporary_store
from tests.harness.store.sample_rows import address

COUNT = 10

ADDRESSES = [
    # Half of them share their first eight bytes, as addresses that were mined.
    address(at + 1) if at % 2 else Address("0x" + f"{at:02x}" + "77" * 19)
    for at in range(COUNT)
]

KEYS = np.frombuffer(b"".join(map(blob, ADDRESSES)), np.uint8).reshape(-1, 20)

Found = dict[Address, tuple[int, int]]


class Write(msgspec.Struct, frozen=True):
    """One transaction: an unwinding, or tracking."""

    unwound_from: int | None
    """None: nothing is unwound."""
    seen: dict[int, int]
    """Block by token."""
    is_committed: bool
    is_ours: bool
    """True if the writer holds the tokens in memory; else another process writes."""
    chain_id: int = 1


writes = st.builds(
    Write,
    unwound_from=st.none() | st.integers(0, 30),
    seen=st.dictionaries(st.integers(0, COUNT - 1), st.integers(0, 30), max_size=4),
    is_committed=st.booleans(),
    is_ours=st.booleans(),
    chain_id=st.sampled_from([1, 1, 1, 56]),
)


class RolledBackError(Exception):
    """The end of a transaction that is not committed."""


def in_table(store: Readable) -> Found:
    return {
        row.address: (row.token_id, row.first_seen_block) for row in list_tracked(store, chain_id=1)
    }


def in_memory(tokens: ChainTokens) -> Found:
    found = tokens.find(KEYS)
    rows = zip(ADDRESSES, found.token_id.tolist(), found.first_seen_block.tolist(), strict=True)
    return {key: (number, first) for key, number, first in rows if number != NOT_TRACKED}


def write(tx: Transaction, step: Write, tokens: ChainTokens | None) -> None:
    """Tokens without pool and launch go as far back as they were seen first."""
    if step.unwound_from is not None:
        unwind_from(tx, chain_id=step.chain_id, number=step.unwound_from)
        return
    seen = {ADDRESSES[token]: number for token, number in step.seen.items()}
    track_seen(tx, chain_id=step.chain_id, seen=seen, because="pool")
    if tokens is not None:
        tokens.look_ahead(tx)


def play(store: Store, other: Store, tokens: ChainTokens, step: Write) -> None:
    is_held = step.is_ours and step.chain_id == 1
    try:
        with (store if is_held else other).transaction() as tx:
            if is_held:
                tokens.refresh(tx)
                assert in_memory(tokens) == in_table(tx)
            write(tx, step, tokens if is_held else None)
            if is_held and step.unwound_from is None:
                assert in_memory(tokens) == in_table(tx)
            end(is_committed=step.is_committed)
    except RolledBackError:
        pass


def end(*, is_committed: bool) -> None:
    if not is_committed:
        raise RolledBackError


def wrote(seen: dict[int, int], *, back_to: int | None = None, **more: bool) -> Write:
    usual = {"is_committed": True, "is_ours": True} | more
    return Write(unwound_from=back_to, seen=seen, **usual)


@settings(max_examples=one_in(1))
@given(played=st.lists(writes, max_size=15))
@example(played=[wrote({0: 9}), wrote({0: 5}, is_ours=False), wrote({})])
@example(played=[wrote({0: 9}), wrote({0: 5}, is_committed=False), wrote({})])
@example(played=[wrote({0: 9}), wrote({}, back_to=9, is_committed=False), wrote({})])
@example(played=[wrote({0: 9}), wrote({}, back_to=9), wrote({0: 9}), wrote({})])
@example(played=[wrote({0: 9}), wrote({}, back_to=9, is_ours=False), wrote({0: 20}), wrote({})])
def test_memory_is_the_table_at_every_moment(played: Sequence[Write]) -> None:
    with temporary_store() as store:
        other, tokens = Store.open(store.path), ChainTokens(1)
        for step in played:
            play(store, other, tokens, step)
        tokens.refresh(store)
        assert in_memory(tokens) == in_table(store)
        other.close()


def test_a_new_memory_reads_page_by_page_what_was_written_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sql.tokens.tokens._PLACES_READ", 3)
    with temporary_store() as store:
        with store.transaction() as tx:
            write(tx, wrote(dict.fromkeys(range(COUNT), 5)), None)
        with store.transaction() as tx:
            write(tx, wrote({2: 3}), None)
        tokens = ChainTokens(1)
        tokens.refresh(store)
        assert in_memory(tokens) == in_table(store)
        assert len(in_table(store)) == COUNT


# --- reconcile ----------------------------------------------------------------------------------


def block(number: int, branch: str = "a", parent: str = "a") -> BlockRef:
    return BlockRef(
        number=number,
        hash=Hash32(f"{number}{branch}"),
        parent_hash=Hash32(f"{number - 1}{parent}"),
        time_s=number,
    )


@pytest.mark.parametrize(
    ("tip", "head", "step"),
    [
        (block(5), block(5), NoChange()),
        (block(5), block(6), Append(block(6))),
        (block(5), block(7), CatchUp(6)),
        (block(5), block(9, "b"), CatchUp(6)),
        (block(5), block(6, "b", "b"), Unwind(block(5))),
        (block(5), block(5, "b", "b"), Unwind(block(5))),
        (block(5), block(5, "b", "a"), Unwind(block(5))),
        (block(5), block(4), Unwind(block(5))),
        (block(5), block(3, "b"), Unwind(block(5))),
    ],
)
def test_the_four_cases(tip: BlockRef, head: BlockRef, step: object) -> None:
    assert next_step(tip, head) == step


@given(
    shared=st.integers(1, 8),
    ours=st.integers(0, 8),
    theirs=st.integers(0, 8),
)
def test_following_the_steps_ends_at_the_head(shared: int, ours: int, theirs: int) -> None:
    trunk = [block(number) for number in range(shared)]

    def grow(branch: str, count: int) -> list[BlockRef]:
        return trunk + [block(shared + at, branch, branch if at else "a") for at in range(count)]

    stored_chain, canonical = grow("b", ours), grow("c", theirs)
    head = canonical[-1]
    for _ in range(len(stored_chain) + len(canonical) + 1):
        step = next_step(stored_chain[-1], head)
        if isinstance(step, CatchUp):
            step = next_step(stored_chain[-1], canonical[step.number])
        if isinstance(step, NoChange):
            break
        if isinstance(step, Append):
            stored_chain.append(step.block)
        else:
            stored_chain.pop()
    assert stored_chain == canonical
