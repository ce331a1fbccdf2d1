"""An ordinary token is never labelled: 5,000 of them, among everything that could mislead."""

import itertools
import random
from collections.abc import Callable

import msgspec
import pytest

from analysis.node import RpcAnswer
from config.jsonrpc import RpcRequest
from config.launchpads import Launchpad
from config.primitives import Address
from indexer.decode.launches import LaunchDecoder
from indexer.decode.logs import decode_logs
from sql.rows import LaunchRow
from tests.indexer.wire_logs import wire_log
from tests.launchpads.asking import REVERT, called, conclude, told
from tests.launchpads.platforms import CHAINS, EVENTS, REGISTRIES, Recorded, other_address, word

TOKENS = 5_000
SUFFIXES = sorted(
    {suffix for chain in CHAINS.values() for pad in chain.launchpads for suffix in pad.suffixes}
)
EMPTY_LOGS = msgspec.Raw(b"[]")


def ordinary_tokens(chain_id: int, count: int) -> list[Address]:
    """Every other one ends like some platform's tokens."""
    plain = [other_address((chain_id, number)) for number in range(count)]
    endings = itertools.cycle(SUFFIXES)
    return [
        Address(token[: -len(suffix := next(endings))] + suffix) if number % 2 else token
        for number, token in enumerate(plain)
    ]


def denial(registry: Recorded, lot: random.Random) -> RpcAnswer:
    """What a registry says of a token it does not know. Where its record names the token, it may
    also be another token's record that comes."""
    unknown = registry.unknown_answer
    if unknown is None:
        return REVERT
    if "T" in registry.record.split() and lot.random() < 0.5:
        return told(registry.answer(other_address(lot.random())))
    return told(unknown)


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
        registry = registries.get((Address(to), data[:10]))
        if registry is not None:
            return denial(registry, lot)
        if to in factories:
            return REVERT
        return told("0x" + word(lot.choice(factories)))  # a getter of the token

    return answer


def launches_of(pads: tuple[Launchpad, ...], chain_id: int, token: Address) -> list[LaunchRow]:
    """What the index makes of a launch event of every kind that names the token, sent by an
    ordinary contract and by every platform's contract that does not send it."""
    senders = {contract for pad in pads for contract in pad.contracts}
    logs = []
    for event in (one for one in EVENTS if one.chain == chain_id):
        topics, data = event.log(token)
        entitled = {
            contract
            for pad in pads
            if event.topic0 in {one.topic for one in pad.event}
            for contract in pad.contracts
        }
        logs += [
            wire_log(address=emitter, topics=topics, data=data, log_index=at)
            for at, emitter in enumerate(
                (other_address("fork"), token, *sorted(senders - entitled)[:3])
            )
        ]
    found = LaunchDecoder(pads).decode(decode_logs(msgspec.json.encode(logs)))
    return [LaunchRow(chain_id=chain_id, **row) for row in found.launches.to_dicts()]


@pytest.mark.parametrize("chain_id", sorted(CHAINS))
def test_no_ordinary_token_is_labelled(chain_id: int) -> None:
    pads = CHAINS[chain_id].launchpads
    lot = random.Random(chain_id)  # noqa: S311 - a draw that can be repeated
    answer = misleading(chain_id, lot)
    tokens = ordinary_tokens(chain_id, -(-TOKENS // len(CHAINS)))
    labelled = []
    for number, token in enumerate(tokens):
        rows = launches_of(pads, chain_id, token) if number % 50 == 0 else []
        origin = conclude(pads, token, answer, launches=rows)
        if origin.is_launchpad is not False:
            labelled.append((token, origin))
    assert not labelled


def test_these_are_as_many_as_promised() -> None:
    count = sum(len(ordinary_tokens(one, -(-TOKENS // len(CHAINS)))) for one in CHAINS)
    assert count >= TOKENS
