"""Protects the size of a model's excerpt, and its list of everything left out."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from api.formats.rendering import EvidenceBody
from api.mcp.evidence_excerpt import MOST_CHARS, excerpt, excerpt_of

texts = st.integers(0, 3_000).map(lambda length: "x" * length)
findings = st.fixed_dictionaries({"selectors": st.lists(texts, max_size=3)})
simulations = st.fixed_dictionaries({"request": texts, "calls": texts, "outcome": texts})


@st.composite
def bodies(draw: st.DrawFn) -> EvidenceBody:
    many = draw(st.integers(0, 150))
    found = draw(st.lists(findings | simulations, min_size=1, max_size=5))
    evidence = {f"key{at}": found[at % len(found)] for at in range(many)}
    return EvidenceBody(
        chain="ethereum",
        contract_address="0x",
        block_number=1,
        block_hash="0x",
        evidence={key: msgspec.Raw(msgspec.json.encode(v)) for key, v in evidence.items()},
        unknown={f"key{at}": "why" for at in range(many)},
    )


@given(bodies())
def test_an_excerpt_is_bounded_and_names_what_it_leaves_out(body: EvidenceBody) -> None:
    made = excerpt(body)
    assert (
        sum(len(key) + len(bytes(shown)) for key, shown in made.evidence.items()) < 2 * MOST_CHARS
    )
    assert len(msgspec.json.encode(made)) < 2 * MOST_CHARS
    in_full = {
        key for key, shown in made.evidence.items() if bytes(shown) == bytes(body.evidence[key])
    }
    assert len(in_full) + len(made.left_out) + made.keys_left_out == len(body.evidence)
    assert in_full.isdisjoint(made.left_out)
    for key, size in made.left_out.items():
        assert size == len(bytes(body.evidence[key]))
    assert len(made.unknown) + made.unknown_left_out == len(body.unknown)


@given(bodies(), st.integers(0, 10_000))
def test_parts_are_bounded(body: EvidenceBody, offset: int) -> None:
    assert excerpt_of(body, "nothing", offset=offset) is None
    for key, whole in body.evidence.items():
        made = excerpt_of(body, key, offset=offset)
        assert made is not None
        assert made.part is not None
        assert made.part.text == bytes(whole).decode()[offset : offset + MOST_CHARS]
