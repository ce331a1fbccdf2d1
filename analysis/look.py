"""The first round trip: is it a token, and all that can be asked knowing only its address."""

import secrets

import msgspec

from analysis import gate, native_price, ownership, proxy, routers, supply
from analysis.abi import decode_address, read_reply
from analysis.balance_slot import probe_request, read_probe
from analysis.desk import Desk
from analysis.discovery import Candidate, candidates_of, find_lookups
from analysis.gate import Admitted
from analysis.knowledge import Known
from analysis.launchpads import origin
from analysis.launchpads.origin import Lead
from analysis.node import RpcAnswer
from analysis.rounds import Round
from analysis.routers import RouterFacts
from analysis.stage import Scenery, read_scenery, scenery_request
from analysis.supply import Burned
from analysis.venues import amm_v4
from config.jsonrpc import RpcFault
from config.primitives import Address, BlockRef


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What the first round brought."""

    pin: BlockRef
    scenery: Scenery
    admitted: Admitted
    proxy_answers: tuple[RpcAnswer, ...]
    """To proxy.first_requests; reading them needs the code examined, which takes a while."""
    burned: Burned
    owners: tuple[Address, ...]
    """What the owner getters gave."""
    native_usd: float | None
    """None: the oracle has no price that may be used."""
    candidates: tuple[Candidate, ...]
    """Pools against the anchors, indexed ones and asked ones, each once."""
    is_all_asked: bool
    """False: a node refused a question about pools, so there may be more of them."""
    lead: Lead
    """What is known so far of who issued the token."""
    token_slot_index: int | None
    """Index of the token's balance slot. None: not found."""


async def look(desk: Desk, token: Address, pin: BlockRef, known: Known) -> Look:
    """Raises TokenRefusedError when the gate refuses, UpstreamError when the node fails."""
    chain, block = desk.chain, pin.hash
    stables = [stable.address for stable in chain.stables]
    quotes = [anchor.address for anchor in chain.anchors if anchor.address != token]
    unasked = [dex for dex in chain.dexes if dex.factory not in known.covered_factories]
    lookups = find_lookups(unasked, token, quotes)
    new_routers = routers.unread(chain.dexes, desk.routers)
    new_stables = [stable for stable in stables if stable not in desk.quote_slots]
    inquiry = origin.begin(chain.launchpads, token, known.launches, known.covered_launches, pin=pin)
    prober = Address("0x" + secrets.token_hex(20))

    trip = Round()
    asked_scenery = trip.ask((scenery_request(pin),))
    asked_gate = trip.ask(gate.requests(token, block=block))
    asked_proxy = trip.ask(proxy.first_requests(token, block=block))
    asked_burns = trip.ask(supply.requests(token, block=block))
    asked_owners = trip.ask(ownership.requests(token, block=block))
    asked_oracle = trip.ask((native_price.oracle_request(chain.oracle, block=block),))
    asked_slots = trip.ask(
        [probe_request(asset, prober, block=block) for asset in (token, *new_stables)]
    )
    asked_routers = [trip.ask(routers.requests(router, block=block)) for router in new_routers]
    asked_v4 = [
        (dex, trip.ask(amm_v4.find_requests(dex, token, to_block=pin.number)))
        for dex in unasked
        if dex.kind == "AmmV4" and dex.variant is None
    ]
    asked_origin = trip.ask(origin.requests(inquiry, pin=pin))
    asked_lookups = trip.ask([lookup.request(block=block) for lookup in lookups])
    await trip.send(desk.node)

    admitted = gate.read(trip[asked_gate])
    token_slot, *stable_slots = (read_probe(answer) for answer in trip[asked_slots])
    _remember_slots(desk, new_stables, stable_slots)
    _remember_routers(
        desk,
        {
            router: routers.read(trip[at])
            for router, at in zip(new_routers, asked_routers, strict=True)
        },
    )
    found = [
        lookup.candidate(decode_address(read_reply(answer)))
        for lookup, answer in zip(lookups, trip[asked_lookups], strict=True)
    ]
    found_v4 = [
        pool for dex, at in asked_v4 for pool in amm_v4.read_found(dex, token, quotes, trip[at])
    ]
    indexed = candidates_of(known.pools, token=token, dexes=chain.dexes)
    every = [*indexed, *found_v4, *(candidate for candidate in found if candidate is not None)]
    return Look(
        pin=pin,
        scenery=read_scenery(trip[asked_scenery][0]),
        admitted=admitted,
        proxy_answers=tuple(trip[asked_proxy]),
        burned=supply.read(trip[asked_burns]),
        owners=ownership.read(trip[asked_owners]),
        native_usd=native_price.read_oracle(chain.oracle, trip[asked_oracle][0], time_s=pin.time_s),
        candidates=tuple({candidate.key: candidate for candidate in every}.values()),
        is_all_asked=not any(
            isinstance(answer, RpcFault) for _, at in asked_v4 for answer in trip[at]
        ),
        lead=origin.read(inquiry, trip[asked_origin]),
        token_slot_index=token_slot,
    )


def _remember_slots(desk: Desk, stables: list[Address], indices: list[int | None]) -> None:
    for stable, index in zip(stables, indices, strict=True):
        if index is not None:
            desk.quote_slots[stable] = index


def _remember_routers(desk: Desk, facts: dict[Address, RouterFacts]) -> None:
    """A router without code may be deployed later, so it is asked about again."""
    desk.routers |= {router: fact for router, fact in facts.items() if fact.has_code}
