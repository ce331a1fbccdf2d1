"""Protects the decoding of events: topics and places equal those of eth-utils and eth-abi."""

import pytest
from eth_abi.abi import encode
from eth_utils.abi import event_signature_to_log_topic

from config.facts.launchpad import CreationEvent, Launchpad, Registry
from core.evm.event_signatures import EventPlace, ListPlace, parse_event
from core.evm.primitives import Address
from tests.harness.built_in_chains import BUILT_IN_CHAINS

PLAIN = "Made(address indexed token,address by,string name,uint256 at)"
NESTED = (
    "Made(bytes32 indexed id,(address a,(uint8 b,bool c) d) first,(string e,address f) second,"
    "address[] list,address token)"
)


@pytest.mark.parametrize(
    ("declared", "canonical"),
    [
        (PLAIN, "Made(address,address,string,uint256)"),
        (NESTED, "Made(bytes32,(address,(uint8,bool)),(string,address),address[],address)"),
        ("Made()", "Made()"),
    ],
)
def test_topic_0_is_the_hash_of_the_types(declared: str, canonical: str) -> None:
    assert parse_event(declared).topic0 == "0x" + event_signature_to_log_topic(canonical).hex()


def test_places_are_those_of_the_encoding() -> None:
    form = parse_event(NESTED)
    token, inner = "0x" + "aa" * 20, "0x" + "bb" * 20
    types = ["(address,(uint8,bool))", "(string,address)", "address[]", "address"]
    values = [(inner, (7, True)), ("text", token), [token], token]
    data = encode(types, values)
    words = [data[at : at + 32] for at in range(0, len(data), 32)]
    assert form.places["token"] == EventPlace("word", 5)
    assert words[5][12:].hex() == token[2:]
    assert words[form.places["first.a"].index][12:].hex() == inner[2:]
    assert words[form.places["first.d.b"].index][-1] == 7
    assert form.places["id"] == EventPlace("topic", 1)
    # Data behind an offset has no place in the head.
    assert not {"second", "second.f", "list"} & form.places.keys()
    assert (form.topics, form.words, form.is_open) == (2, 6, True)


def test_lists_of_static_tuples_are_as_wide_as_these() -> None:
    form = parse_event("Made(uint256 first,(address who,uint8 kind,bool flag)[] many,bool last)")
    tokens = ["0x" + letter * 40 for letter in "ab"]
    types = ["uint256", "(address,uint8,bool)[]", "bool"]
    data = encode(types, [7, [(token, 3, True) for token in tokens], True])
    words = [int.from_bytes(data[at : at + 32]) for at in range(0, len(data), 32)]
    place = form.lists["many"]
    assert place == ListPlace(1, None, 3)
    start = words[place.index] // 32 + 1
    assert words[start - 1] == len(tokens)
    found = [words[start + at * place.width] for at in range(len(tokens))]
    assert found == [int(token, 16) for token in tokens]
    assert (form.words, form.is_open) == (3, True)


def test_lists_are_found_where_the_encoding_puts_them() -> None:
    form = parse_event("Made(uint256[2] two,address[] many,bool last,bytes32[] indexed hashed)")
    token = "0x" + "aa" * 20
    data = encode(["uint256[2]", "address[]", "bool"], [[5, 6], [token], True])
    words = [int.from_bytes(data[at : at + 32]) for at in range(0, len(data), 32)]
    assert form.lists == {"two": ListPlace(0, 2), "many": ListPlace(2, None)}
    assert form.places == {"last": EventPlace("word", 3)}
    assert words[:2] == [5, 6]
    assert words[words[2] // 32 :] == [1, int(token, 16)]
    assert words[3] == 1
    assert (form.topics, form.words, form.is_open) == (2, 4, True)


@pytest.mark.parametrize(
    "declared",
    [
        "Made",
        "Made(address)",
        "Made(address a b)",
        "Made(text token)",
        "Made(address a,)",
        "Made(uint256[-2] a)",
        "Made(address indexed a,address indexed b,address indexed c,address indexed d)",
    ],
)
def test_another_form_is_refused(declared: str) -> None:
    with pytest.raises(ValueError, match=r"is not|indexed"):
        parse_event(declared)


@pytest.mark.parametrize(
    "fields",
    [
        {"declared": PLAIN, "token": "name"},
        {"declared": PLAIN, "token": None},
        {"declared": PLAIN, "token": "token", "creator": "nobody"},
        {"declared": PLAIN, "token": "token", "topic0": "0x" + "1" * 64},
        {"topic0": "0x" + "1" * 64},
        {"topic0": "0x" + "1" * 64, "token_topic": 1, "token": "token"},
        {},
    ],
)
def test_an_event_says_where_its_token_is(fields: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"token|creator"):
        CreationEvent(**fields)  # type: ignore[arg-type]


def test_a_registry_looks_for_nothing_behind_its_record() -> None:
    with pytest.raises(ValueError, match="behind the 2 words"):
        Registry(read="made(address)", words=2, token_word=2)


def test_coverage_is_of_the_events_and_emitters_as_they_are() -> None:
    event = CreationEvent(declared=PLAIN, token="token")
    here, there = Address("0x" + "11" * 20), Address("0x" + "22" * 20)
    one = Launchpad(slug="a", kind="direct", contracts=(here,), event=(event,))
    same = Launchpad(slug="a", kind="curve", contracts=(here,), event=(event,), from_block=5)
    other = Launchpad(slug="a", kind="direct", contracts=(here, there), event=(event,))
    third = Launchpad(
        slug="a",
        kind="direct",
        contracts=(here,),
        event=(CreationEvent(declared=PLAIN, token="by"),),
    )
    assert one.subject == same.subject
    assert len({one.subject, other.subject, third.subject}) == 3


def test_every_built_in_platform_can_be_recognised() -> None:
    for chain in BUILT_IN_CHAINS:
        assert chain.launchpads
        subjects = [pad.subject for pad in chain.launchpads if pad.event]
        assert len(subjects) == len(set(subjects)), chain.slug
        for pad in chain.launchpads:
            assert pad.event or pad.registry or pad.catalogue, pad.slug
            assert pad.kind == "curve" or pad.curve is None, pad.slug
            assert not pad.getter or pad.registry, pad.slug
            assert pad.confidence == "seen" or pad.registry, pad.slug
