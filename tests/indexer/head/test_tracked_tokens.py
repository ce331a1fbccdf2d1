"""The set of tracked tokens equals a dict of whole addresses, for any addresses."""

import tracemalloc
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from core.process.arrays import ByteArray, Int32Array, Int64Array
from indexer import tracked_tokens
from indexer.tracked_tokens import NOT_TRACKED, AddressKeys, TokenColumns, TrackedTokens

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
        for address, block in tokens.items():
            # A tracked token keeps its id.
            token_id = self.model.get(address, (self.next_id, 0))[0]
            self.next_id += 1
            fresh.append((address, token_id, block))
            self.model[address] = (token_id, block)
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
