"""Protects CI's selection: no kind of combination is left to the night as a whole."""

from hypothesis import given
from hypothesis import strategies as st

from tests.harness.examples import spread
from tests.harness.venues.token_matrix import CASES, KINDS

names = st.text("abcdefgh", min_size=1, max_size=1)
pairs = st.lists(st.tuples(names, names), unique=True)


def usual(combinations: list[tuple[str, str]], one_in: int) -> list[tuple[object, object]]:
    """Return the combinations that CI tries."""
    found = [param for param in spread(combinations, one_in=one_in) if not param.marks]
    return [(param.values[0], param.values[1]) for param in found]


@given(pairs, st.integers(min_value=1, max_value=6))
def test_each_thing_is_tried_and_nothing_is_lost(pairs: list[tuple[str, str]], one_in: int) -> None:
    tried = usual(pairs, one_in)
    assert {thing for thing, _ in tried} == {thing for thing, _ in pairs}
    assert set(tried) <= set(pairs)
    assert {param.values for param in spread(pairs, one_in=one_in)} == set(pairs)
    assert usual(pairs, 1) == [param.values for param in spread(pairs, one_in=1)]


def test_every_kind_of_pool_is_traded_with_many_tokens() -> None:
    places = [place for _, place in usual(list(CASES), 3)]
    for kind in KINDS:
        assert places.count(kind) >= 5, kind
