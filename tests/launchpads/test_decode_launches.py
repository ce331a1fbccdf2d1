"""Every researched creation event is understood, by its emitter, and by nobody else's."""

import msgspec
import pytest

from core.evm.primitives import Address, Hash32
from indexer.decode.launch_logs import DecodedLaunches, LaunchDecoder
from indexer.decode.logs import decode_logs
from tests.harness.indexer.wire_logs import wire_log
from tests.harness.launchpads.platforms import CHAINS, EVENTS, Announced, other_address

TOKEN = other_address("token")
NAMES = [f"{one.chain}-{one.platform}-{one.topic0[:10]}" for one in EVENTS]


def decode(chain_id: int, *logs: dict[str, object]) -> DecodedLaunches:
    decoder = LaunchDecoder(CHAINS[chain_id].launchpads, chain_id=chain_id)
    return decoder.decode(decode_logs(msgspec.json.encode(logs)))


def sent(
    event: Announced, emitter: Address, *, topics: int = 0, data: str = "", log_index: int = 3
) -> dict[str, object]:
    """The event's log, with topics taken away or data added."""
    all_topics, all_data = event.log(TOKEN)
    kept = all_topics[: len(all_topics) + topics]
    return wire_log(
        address=emitter, topics=kept, data=all_data + data, block_number=7, log_index=log_index
    )


@pytest.mark.parametrize("event", EVENTS, ids=NAMES)
def test_each_emitters_event_is_a_launch(event: Announced) -> None:
    assert (
        event.topic0 in LaunchDecoder(CHAINS[event.chain].launchpads, chain_id=event.chain).topics
    )
    for emitter in event.emitters:
        found = decode(event.chain, sent(event, emitter))
        assert not len(found.undecoded)
        (row,) = found.launches
        assert (row.token, row.slug, row.emitter) == (TOKEN, event.platform, emitter)
        assert (row.chain_id, row.block_number, row.log_index) == (event.chain, 7, 3)
        assert row.tx_hash == "0x" + "cd" * 32


@pytest.mark.parametrize("event", EVENTS, ids=NAMES)
def test_the_same_event_of_anybody_else_is_nothing(event: Announced) -> None:
    """Forks share topics, so other platforms' contracts may send it as well, for themselves."""
    pads = CHAINS[event.chain].launchpads
    contracts = {contract for pad in pads for contract in pad.contracts}
    strangers = (*sorted(contracts - set(event.emitters)), other_address("stranger"))
    logs = [sent(event, emitter, log_index=at) for at, emitter in enumerate(strangers)]
    theirs = {
        (emitter, pad.slug)
        for pad in pads
        if event.topic0 in {one.topic for one in pad.event}
        for emitter in set(pad.contracts).intersection(strangers)
    }
    found = decode(event.chain, *logs)
    assert {(row.emitter, row.slug) for row in found.launches} == theirs


@pytest.mark.parametrize("event", EVENTS, ids=NAMES)
def test_what_has_another_shape_is_kept_apart(event: Announced) -> None:
    half_a_word = decode(event.chain, sent(event, event.emitters[0], data="00"))
    events_by_topic = {
        one.topic: one for pad in CHAINS[event.chain].launchpads for one in pad.event
    }
    is_declared = events_by_topic[Hash32(event.topic0)].declared is not None
    assert (not half_a_word.launches) == is_declared
    assert len(half_a_word.undecoded) == is_declared
    if event.topics > 1:
        short = decode(event.chain, sent(event, event.emitters[0], topics=-1))
        assert not short.launches
        assert len(short.undecoded) == 1


def test_an_event_that_names_no_address_is_kept_apart() -> None:
    event = next(one for one in EVENTS if one.token == "word 1")
    log = sent(event, event.emitters[0])
    log["data"] = str(log["data"]).replace(TOKEN[2:].rjust(64, "0"), "f" * 64)
    found = decode(event.chain, log)
    assert not found.launches
    assert len(found.undecoded) == 1


def test_an_event_of_two_platforms_is_a_launch_of_both() -> None:
    doppler = next(one for one in EVENTS if one.platform == "doppler" and one.chain == 4663)
    pads = CHAINS[4663].launchpads
    front = msgspec.structs.replace(
        next(pad for pad in pads if pad.slug == "doppler"), slug="a-front-end"
    )
    decoder = LaunchDecoder((front, *pads), chain_id=4663)
    found = decoder.decode(decode_logs(msgspec.json.encode([sent(doppler, doppler.emitters[0])])))
    assert [row.slug for row in found.launches] == ["a-front-end", "doppler"]
    assert not len(found.undecoded)


def test_without_platforms_nothing_is_asked_for() -> None:
    decoder = LaunchDecoder((), chain_id=1)
    assert decoder.topics == ()
    assert not decoder.decode(decode_logs(b"[]")).launches
