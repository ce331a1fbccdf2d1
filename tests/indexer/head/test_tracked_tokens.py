"""Protects the tokens of a chain in memory, and the moves that bring any tip to any head."""

import tracemalloc
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from core.evm.primitives import Address, BlockRef, Hash32
from core.process.arrays import ByteArray, Int32Array, Int64Array
from indexer import tracked_tokens
from indexer.chain_tokens import ChainTokens
from indexer.head.reconcile import Append, CatchUp, NoChange, Unwind, next_step
from indexer.tracked_tokens import NOT_TRACKED, AddressKeys, TokenColumns, TrackedTokens
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store
from sql.tokens.tokens import list_tracked, track_seen
from sql.unwind import unwind_from
from tests.harness.examples import one_in
from tests.harness.store.empty_files import temporary_store
from tests.harness.store.sample_rows import address

# Few heads, middles and tails, so that addresses share all but one part, as mined ones would.
PARTS = st.sampled_from([b"\x00" * 4, b"\xff" * 4, b"\x80\x00\x00\x00", b"\x00\x00\x00\x01"])

ADDRESSES = st.one_of(
    st.lists(PARTS, min_size=5, max_size=5).map(b"".join), st.binary(min_size=20, max_size=20)
)

BLOCKS = st.integers(0, 2**40)

PAGE = 5_000


def columns(
    tokens: Sequence[tuple[bytes, int, int]],
) -> tuple[ByteArray, Int32Array, Int64Array]:
    return (
        addresses_of([one[0] for one in tokens]),
        np.array([one[1] for one in tokens], np.int32),
        np.array([one[2] for one in tokens], np.int64),
    )


def addresses_of(raw: Sequence[bytes]) -> ByteArray:
    return np.frombuffer(b"".join(raw), np.uint8).reshape(-1, 20)


class AgainstADict(RuleBasedStateMachine):
    """Adds, removes and searches; a dict does the same."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = TrackedTokens.empty()
        self.model: dict[bytes, tuple[int, int]] = {}
        self.next_id = 0

    @rule(tokens=st.dictionaries(ADDRESSES, BLOCKS, max_size=12))
    def add(self, tokens: dict[bytes, int]) -> None:
        fresh = []
        for place, block in tokens.items():
            # A tracked token keeps its id.
            token_id = self.model.get(place, (self.next_id, 0))[0]
            self.next_id += 1
            fresh.append((place, token_id, block))
            self.model[place] = (token_id, block)
        self.tokens.add(*columns(fresh))

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        ids = sorted(one[0] for one in self.model.values())
        gone = data.draw(st.sets(st.sampled_from([*ids, 10**6])))
        self.tokens.remove(gone)
        self.model = {at: one for at, one in self.model.items() if one[0] not in gone}

    @rule()
    def load(self) -> None:
        known = [(address, *one) for address, one in self.model.items()]
        self.tokens = TrackedTokens(*columns(known))

    @rule(at_once=st.integers(1, 5), spare=st.integers(0, 3))
    def load_by_pages(self, at_once: int, spare: int) -> None:
        known = [(address, *one) for address, one in self.model.items()]
        pages = [columns(known[at : at + at_once]) for at in range(0, len(known), at_once)]
        self.tokens = TrackedTokens.of_pages(pages, at_most=len(known) + spare)

    @rule(strangers=st.lists(ADDRESSES, max_size=8))
    def find(self, strangers: list[bytes]) -> None:
        searched = [*strangers, *self.model]
        found = self.tokens.find(AddressKeys.of(addresses_of(searched)))
        expected = [self.model.get(address, (NOT_TRACKED, 0)) for address in searched]
        assert found.token_id.tolist() == [one[0] for one in expected]
        assert found.first_seen_block.tolist() == [one[1] for one in expected]

    @invariant()
    def it_has_as_many(self) -> None:
        assert len(self.tokens) == len(self.model)


@pytest.fixture(params=["dict", "sorted", "merged"])
def bounds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way of looking up, with a few tokens."""
    if request.param != "dict":
        monkeypatch.setattr(tracked_tokens, "_ONE_BY_ONE_BELOW", 0)
        monkeypatch.setattr(tracked_tokens, "_SORTED_ABOVE", 3)
    if request.param == "merged":
        monkeypatch.setattr(tracked_tokens, "_MOST_ADDED", 3)


@pytest.mark.usefixtures("bounds")
def test_it_answers_as_a_dict_does() -> None:
    AgainstADict.TestCase.settings = settings(
        max_examples=settings().max_examples, stateful_step_count=20
    )
    AgainstADict.TestCase("runTest").runTest()


@given(st.lists(st.binary(min_size=20, max_size=20), unique=True, min_size=1, max_size=300))
def test_a_large_set_is_searched_by_all_of_it_at_once(raw: list[bytes]) -> None:
    kept = raw[::2]
    ids = np.arange(len(kept), dtype=np.int32)
    tokens = TrackedTokens(addresses_of(kept), ids, ids.astype(np.int64))
    expected = {address: at for at, address in enumerate(kept)}
    searched = (raw * (5_000 // len(raw) + 1))[:5_000]
    found = tokens.find(AddressKeys.of(addresses_of(searched))).token_id.tolist()
    assert found == [expected.get(address, NOT_TRACKED) for address in searched]


def test_a_run_of_mined_addresses_is_searched_to_its_end() -> None:
    mined = [b"\x07" * 8 + number.to_bytes(12, "big") for number in range(200)]
    ids = np.arange(199, dtype=np.int32)
    tokens = TrackedTokens(addresses_of(mined[:-1]), ids, ids.astype(np.int64))
    assert tokens.find(AddressKeys.of(addresses_of(mined))).token_id.tolist() == [
        *range(199),
        NOT_TRACKED,
    ]


def test_an_address_that_occurs_twice_is_refused() -> None:
    twice = [(b"\x01" * 20, 1, 1), (b"\x02" * 20, 2, 1), (b"\x01" * 20, 3, 1)]
    with pytest.raises(ValueError, match="twice"):
        TrackedTokens(*columns(twice))
    with pytest.raises(ValueError, match="twice"):
        TrackedTokens.of_pages([columns(twice[:2]), columns(twice[2:])], at_most=3)


def test_loading_takes_little_more_memory_than_what_is_loaded() -> None:
    """Millions of tokens were held four times over, and the system did not get that back."""
    tracemalloc.start()
    try:
        loaded = TrackedTokens.of_pages(scattered(pages=20), at_most=20 * PAGE)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(loaded) == 20 * PAGE
    assert most < 1.75 * loaded.nbytes


def scattered(*, pages: int) -> Iterator[TokenColumns]:
    rng = np.random.default_rng(1)
    for at in range(pages):
        ids = np.arange(at * PAGE, (at + 1) * PAGE, dtype=np.int32)
        yield rng.integers(0, 256, (PAGE, 20), np.uint8), ids, ids.astype(np.int64)


# --- chain tokens -------------------------------------------------------------------------------

COUNT = 10

CHAIN_ADDRESSES = [
    # Half of them share their first eight bytes, as addresses that were mined.
    address(at + 1) if at % 2 else Address("0x" + f"{at:02x}" + "77" * 19)
    for at in range(COUNT)
]

KEYS = np.frombuffer(b"".join(map(blob, CHAIN_ADDRESSES)), np.uint8).reshape(-1, 20)

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
    rows = zip(
        CHAIN_ADDRESSES, found.token_id.tolist(), found.first_seen_block.tolist(), strict=True
    )
    return {key: (number, first) for key, number, first in rows if number != NOT_TRACKED}


def write(tx: Transaction, step: Write, tokens: ChainTokens | None) -> None:
    """Tokens without pool and launch go as far back as they were seen first."""
    if step.unwound_from is not None:
        unwind_from(tx, chain_id=step.chain_id, number=step.unwound_from)
        return
    seen = {CHAIN_ADDRESSES[token]: number for token, number in step.seen.items()}
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
