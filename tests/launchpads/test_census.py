"""No researched platform is forgotten, and no ordinary token is labelled."""

import itertools
import random
import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from config.facts.launchpad import Launchpad
from core.evm.abi import selector_of
from core.evm.primitives import Address
from core.rpc.messages import RpcAnswer, RpcRequest
from indexer.decode.launch_logs import LaunchDecoder
from indexer.decode.logs import decode_logs
from tests.harness.indexer.wire_logs import wire_log
from tests.harness.launchpads.issuer_search import PLAIN_CODE, REVERT, called, conclude, log_answer
from tests.harness.launchpads.platforms import (
    CATALOGUES,
    CHAINS,
    EVENTS,
    REGISTRIES,
    Recorded,
    other_address,
    word,
)


class Platform(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the research."""

    name: str
    slug: str | None = None
    chains: tuple[int, ...] = ()
    left_out: str | None = None


class _Census(msgspec.Struct, frozen=True):
    platform: tuple[Platform, ...]


PLATFORMS = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("census.toml").read_text(encoding="utf-8")), _Census
).platform

TESTED = {
    *((event.platform, event.chain) for event in EVENTS),
    *((registry.platform, registry.chain) for registry in REGISTRIES),
    *((catalogue.platform, catalogue.chain) for catalogue in CATALOGUES),
}

"""Platforms with separate tests, by events and answers."""


def test_the_research_has_eighty_platforms() -> None:
    assert len({one.name for one in PLATFORMS}) == len(PLATFORMS) == 80


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda one: one.name)
def test_a_platform_is_recognised_or_it_is_said_why_not(platform: Platform) -> None:
    assert (platform.slug is None) == (not platform.chains) == (platform.left_out is not None)
    assert {(platform.slug, chain) for chain in platform.chains} <= TESTED


def test_nothing_is_recognised_that_was_not_researched() -> None:
    researched = {(one.slug, chain) for one in PLATFORMS for chain in one.chains}
    configured = {(pad.slug, chain.id) for chain in CHAINS.values() for pad in chain.launchpads}
    assert configured == researched == TESTED


CURVES = {
    "four-meme": "curve_a",
    "flap": "curve_b",
    "pons": "curve_c",
    "genius-fun": "curve_c",
    "loong": "curve_c",
    "virtuals": "curve_d",
    "printr": "curve_e",
}

"""Platforms whose curves are read; forks have separate slugs and the same curve."""


def test_the_curves_of_these_platforms_are_read_on_every_chain() -> None:
    pads = [pad for chain in CHAINS.values() for pad in chain.launchpads if pad.kind == "curve"]
    assert {pad.slug: pad.curve for pad in pads if pad.curve} == CURVES
    assert all(pad.curve == CURVES[pad.slug] for pad in pads if pad.slug in CURVES)
    forms = {(pad.curve, pad.registry[:1]) for pad in pads if pad.curve and pad.registry}
    # One form a curve, so what is tested of a curve holds for each platform that has it.
    assert len(forms) == len(set(CURVES.values()))


# --- no false labels ----------------------------------------------------------------------------

TOKENS = 5_000

SUFFIXES = sorted(
    {suffix for chain in CHAINS.values() for pad in chain.launchpads for suffix in pad.suffixes}
)

EMPTY_LOGS = msgspec.Raw(b"[]")

WALK = selector_of("find(address,bytes4,bytes4,uint256,address)")

"""Call that checks a list for the token; real lists are tested on a node."""


def ordinary_tokens(chain_id: int, count: int) -> list[Address]:
    """Every other one ends like some platform's tokens."""
    plain = [other_address((chain_id, number)) for number in range(count)]
    endings = itertools.cycle(SUFFIXES)
    return [
        Address(token[: -len(suffix := next(endings))] + suffix) if number % 2 else token
        for number, token in enumerate(plain)
    ]


def denial(registry: Recorded, lot: random.Random) -> RpcAnswer:
    """Answer of a registry on an unknown token.

    Where its record names the token, it may also be another token's record.
    """
    unknown = registry.unknown_answer
    if unknown is None:
        return REVERT
    if "T" in registry.record.split() and lot.random() < 0.5:
        return log_answer(registry.answer(other_address(lot.random())))
    return log_answer(unknown)


def misleading(chain_id: int, lot: random.Random) -> Callable[[RpcRequest], RpcAnswer]:
    """A node on which every registry stands and denies, and where no logs of a platform name the
    token. The token itself may name a platform's factory as its own."""
    registries = {
        (at, registry.selector): registry
        for registry in REGISTRIES
        if registry.chain == chain_id
        for at in registry.at
    }
    factories = sorted({at for at, _ in registries})

    def answer(request: RpcRequest) -> RpcAnswer:
        to, data = called(request)
        if request.method == "eth_getLogs":
            return EMPTY_LOGS
        if data.startswith(WALK):
            return log_answer("0x" + word("0x0") * 2)
        registry = registries.get((Address(to), data[:10]))
        if registry is not None:
            return denial(registry, lot)
        if to in factories:
            return REVERT
        return log_answer("0x" + word(lot.choice(factories)))  # a getter of the token

    return answer


def look_alike(address: Address) -> Address:
    """An address that a hurried reader takes for this one: both ends are the same."""
    return Address(address[:8] + other_address(address)[8:-6] + address[-6:])


def misleading_logs(
    pads: tuple[Launchpad, ...], chain_id: int, token: Address, lot: random.Random
) -> list[dict[str, object]]:
    """Launch events that name the token, from wrong emitters.

    An ordinary contract, the token, one that looks like the platform's, and another platform's
    contract that does not send it.
    """
    event = lot.choice([one for one in EVENTS if one.chain == chain_id])
    topics, data = event.log(token)
    entitled = {
        contract
        for pad in pads
        if event.topic0 in {one.topic for one in pad.event}
        for contract in pad.contracts
    }
    others = sorted({contract for pad in pads for contract in pad.contracts} - entitled)
    emitters = (other_address("fork"), token, look_alike(event.emitters[0]), lot.choice(others))
    return [
        wire_log(address=emitter, topics=topics, data=data, log_index=at)
        for at, emitter in enumerate(emitters)
    ]


def misleading_code(pads: tuple[Launchpad, ...], lot: random.Random) -> bytes:
    """Code of an ordinary contract, of a clone of a platform's implementation, or of one that looks
    like it."""
    known = sorted({implementation for pad in pads for implementation in pad.clones_of})
    target = lot.choice(known) if known else other_address("implementation")
    return lot.choice([PLAIN_CODE, clone_of(target), clone_of(look_alike(target))])


def clone_of(implementation: Address) -> bytes:
    """EIP-1167."""
    return bytes.fromhex(f"363d3d373d3d3d363d73{implementation[2:]}5af43d82803e903d91602b57fd5bf3")


@pytest.mark.parametrize("chain_id", sorted(CHAINS))
def test_no_ordinary_token_is_labelled(chain_id: int) -> None:
    pads = CHAINS[chain_id].launchpads
    lot = random.Random(chain_id)  # noqa: S311 - a draw that can be repeated
    answer = misleading(chain_id, lot)
    tokens = ordinary_tokens(chain_id, -(-TOKENS // len(CHAINS)))
    logs = [log for token in tokens for log in misleading_logs(pads, chain_id, token, lot)]
    decoder = LaunchDecoder(pads, chain_id=chain_id)
    rows = decoder.decode(decode_logs(msgspec.json.encode(logs))).launches
    labelled = []
    for token in tokens:
        launches = [row for row in rows if row.token == token]
        code = misleading_code(pads, lot)
        origin = conclude(pads, token, answer, launches=launches, code=code)
        if origin.is_launchpad is not False:
            labelled.append((token, origin))
    assert not labelled


def test_these_are_as_many_as_promised() -> None:
    count = sum(len(ordinary_tokens(one, -(-TOKENS // len(CHAINS)))) for one in CHAINS)
    assert count >= TOKENS
