"""The first round trip: is it a token, and all that can be asked knowing only its address.

What depends on another answer (a pool's reserves, the code behind a proxy, the contract in a slot)
is asked in the same round, of addresses that the round itself brings. Questions to contracts that
can be trusted come first: they leave gas for the token, not the other way round.
"""

import secrets
from collections.abc import Mapping, Sequence

import msgspec

from analysis.launchpads import origin
from analysis.launchpads.origin import Lead
from analysis.market import fee_tiers, native_price, routers
from analysis.market.native_pools import NativePools
from analysis.market.pool_queries import PoolQuestions, PoolsFound
from analysis.market.routers import RouterFacts
from analysis.market.venues.pool import Candidate, PoolState
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.offload import in_thread_if_large
from analysis.reads.eth_reads import call, code_at, decode_uint, read_code, read_reply
from analysis.reads.indexed_facts import IndexedFacts
from analysis.reads.read_batch import ReadBatch
from analysis.simulation.balance_slot import probe_request, read_probe
from analysis.simulation.disguise import Disguise
from analysis.token import admission, burned_supply, ownership, proxy_resolution
from analysis.token.admission import DELEGATION_BYTES, Admitted, is_delegated_account
from analysis.token.burned_supply import Burned
from analysis.token.holders import HolderQuestions, TopHolders, creators_named
from config.burn import BURN_ADDRESSES
from config.chains import Dex
from config.jsonrpc import RpcAnswer, RpcFault
from config.primitives import Address, BlockRef

_HOLDERS_ASKED = 20
"""Some of them will be pools and owners, which is not known when they are asked."""


class HolderAccount(msgspec.Struct, frozen=True, kw_only=True):
    """An indexed holder, looked at."""

    address: Address
    balance_raw: int
    is_account: bool
    """It has no code, or that of EIP-7702."""


class FirstRound(msgspec.Struct, frozen=True, kw_only=True):
    """What the first round brought."""

    pin: BlockRef
    disguise: Disguise
    admitted: Admitted
    proxy_answers: tuple[RpcAnswer, ...]
    """To proxy.first_requests; reading them needs the code examined, which takes a while."""
    memory: Mapping[bytes, RpcAnswer]
    """Answers to what a proxy's trail may want next, by `memory_key`."""
    codes: tuple[bytes, ...]
    """The token's own, and those found behind it."""
    burned: Burned
    owners: tuple[Address, ...]
    """What the owner getters gave."""
    native_usd: float | None
    """None: neither the oracle nor a pool has a price that may be used."""
    states: tuple[tuple[Candidate, PoolState | None], ...]
    """Pools against the anchors, indexed ones and asked ones, each once."""
    unread: tuple[Candidate, ...]
    """AmmV4 pools whose state has not been asked yet."""
    is_all_asked: bool
    """False: a node refused a question about pools, so there may be more of them."""
    holders: tuple[HolderAccount, ...]
    """The largest of the index, largest first."""
    holdings: TopHolders
    lead: Lead
    """What is known so far of who issued the token."""
    token_slot_index: int | None
    """Index of the token's balance slot. None: not found."""


async def run_first_round(
    context: ChainContext, token: Address, newest: BlockRef | None, known: IndexedFacts
) -> FirstRound:
    """`newest` None: the round finds the newest block out by itself.

    Raises TokenRefusedError when the gate refuses, UpstreamError when the node fails.
    """
    chain = context.chain
    quotes = [anchor.address for anchor in chain.anchors if anchor.address != token]
    holders = _possible_holders(token, known)

    trip = ReadBatch.opening(newest.hash if newest else None)
    block = trip.block
    many = len(known.pools)
    dexes = fee_tiers.with_enabled(chain.dexes, context.tiers)
    pools = await in_thread_if_large(
        lambda: PoolQuestions(trip, dexes, token, quotes, known), pools=many
    )
    native = None if context.has_oracle else NativePools(trip, chain, block=block)
    asked_oracle = trip.ask((native_price.oracle_request(chain.oracle, block=block),))
    new_routers = routers.unread(chain, context.routers)
    asked_routers = [trip.ask(routers.requests(router, block=block)) for router in new_routers]
    height = newest.number if newest else None
    factories = _TierQuestions(trip, context, known, to_block=height)
    slots = _SlotProbes(trip, context, token)
    asked_gate = trip.ask(admission.requests(token, block=block))
    asked_proxy = trip.ask(proxy_resolution.first_requests(token, block=block))
    behind = _ask_behind(trip, code=asked_gate.start, proxied=asked_proxy)
    asked_burns = trip.ask(burned_supply.requests(token, block=block))
    asked_owners = trip.ask(ownership.requests(token, block=block))
    asked_balances = trip.ask(
        [call(token, "balanceOf(address)", holder, block=block) for holder in holders]
    )
    asked_codes = trip.ask(
        [code_at(holder, block=block) for holder in holders], first_bytes=DELEGATION_BYTES
    )
    inquiry = origin.begin(
        chain.launchpads,
        token,
        known.launches,
        known.covered_launches,
        can_walk=context.capabilities.packs.is_worth_trying,
    )
    asked_origin = trip.ask(origin.requests(inquiry, block=block, to_block=height))
    await in_thread_if_large(lambda: pools.ask_states(to_block=height), pools=many)
    owners = (trip.promise(at) for at in range(asked_owners.start, asked_owners.stop))
    issuers = (question.at for question in inquiry.questions)
    held = HolderQuestions(
        trip,
        token,
        known,
        places=(*owners, *pools.places, *issuers),
        asked_already=holders,
    )
    asked_fees = trip.ask(context.fee_questions())
    await trip.send(context.node, context.capabilities)

    header = trip.header
    context.learn_fees(trip[asked_fees], proposer=header.proposer)
    admitted = admission.read(trip[asked_gate])
    _remember_routers(
        context,
        {
            router: routers.read(trip[at], wrapped=chain.wrapped_native.address)
            for router, at in zip(new_routers, asked_routers, strict=True)
        },
    )
    found = await in_thread_if_large(pools.read, pools=many)
    factories.read()
    late = fee_tiers.with_new(chain.dexes, dexes, context.tiers)
    if late:
        found = await _with_late(context, header.ref, late, token, quotes, known, found)
    native_usd = context.native_usd = await _read_price(
        context, trip, native, trip[asked_oracle][0]
    )
    burned = burned_supply.read(trip[asked_burns])
    plain = _read_holders(holders, trip[asked_balances], trip[asked_codes])
    return FirstRound(
        pin=header.ref,
        disguise=context.disguise(header, token),
        admitted=admitted,
        proxy_answers=tuple(trip[asked_proxy]),
        memory=trip.memory(behind),
        codes=(admitted.code, *_codes(trip[behind][1:])),
        burned=burned,
        owners=ownership.read(trip[asked_owners]),
        native_usd=native_usd,
        states=found.states,
        unread=found.unread,
        is_all_asked=found.is_all_asked,
        holders=plain,
        holdings=held.read(
            {
                **{row.owner: row.amount_raw for row in burned.holders},
                **{holder.address: holder.balance_raw for holder in plain},
            },
            supply_raw=admitted.metadata.supply_raw,
        ),
        token_slot_index=slots.read(trip, context),
        lead=origin.read(inquiry, trip[asked_origin], height=header.ref.number),
    )


async def _read_price(
    context: ChainContext, trip: ReadBatch, pools: NativePools | None, oracle: RpcAnswer
) -> float | None:
    """The oracle's, else that of pools; they are asked late where the oracle used to be good."""
    block = trip.header.ref
    by_oracle = native_price.read_oracle(context.chain.oracle, oracle, time_s=block.time_s)
    context.has_oracle = by_oracle is not None
    if by_oracle is not None:
        return by_oracle
    if pools is None:
        late = ReadBatch()
        pools = NativePools(late, context.chain, block=block.hash)
        await late.send(context.node, context.capabilities)
    return pools.read()


def _ask_behind(trip: ReadBatch, *, code: int, proxied: slice) -> slice:
    """The codes that a proxy's trail will want, wherever a usual one keeps its target: pushed by
    its code, in a standard slot, with a beacon in one, or named by its getter."""
    first = proxied.start
    beacon_at = first + proxy_resolution.STANDARD_SLOTS.index(proxy_resolution.BEACON_SLOT)
    asked = trip.ask(proxy_resolution.beacon_requests(trip.promise(beacon_at), block=trip.block))
    targets = [code, *(at for at in range(first, proxied.stop) if at != beacon_at), asked.start]
    codes = trip.ask([code_at(trip.promise(at), block=trip.block) for at in targets])
    return slice(asked.start, codes.stop)


def _codes(answers: Sequence[RpcAnswer]) -> list[bytes]:
    """Each code once; those of no address are empty."""
    codes = (b"" if isinstance(answer, RpcFault) else read_code(answer) for answer in answers)
    return [code for code in dict.fromkeys(codes) if code]


def _possible_holders(token: Address, known: IndexedFacts) -> list[Address]:
    """Indexed holders that are nobody special, as far as is known before anything is asked."""
    special = {token, *BURN_ADDRESSES, *(pool.pool for pool in known.pools)}
    special |= set(creators_named(known))
    plain = (holder for holder, _ in known.holders if holder not in special)
    return [holder for holder, _ in zip(plain, range(_HOLDERS_ASKED), strict=False)]


def _read_holders(
    holders: Sequence[Address], balances: Sequence[RpcAnswer], codes: Sequence[RpcAnswer]
) -> tuple[HolderAccount, ...]:
    found = []
    for holder, balance, answer in zip(holders, balances, codes, strict=True):
        code = read_code(answer)
        found.append(
            HolderAccount(
                address=holder,
                balance_raw=decode_uint(read_reply(balance)) or 0,
                is_account=not code or is_delegated_account(code),
            )
        )
    return tuple(found)


async def _with_late(
    context: ChainContext,
    block: BlockRef,
    dexes: Sequence[Dex],
    token: Address,
    quotes: Sequence[Address],
    known: IndexedFacts,
    found: PoolsFound,
) -> PoolsFound:
    """One more round, where factories turned out to have more kinds of pools than were known of."""
    trip = ReadBatch.opening(block.hash)
    rest = IndexedFacts(covered_factories=known.covered_factories)
    pools = PoolQuestions(trip, dexes, token, quotes, rest)
    pools.ask_states(to_block=block.number)
    await trip.send(context.node, context.capabilities)
    more = pools.read()
    states = {pool.key: (pool, state) for pool, state in (*more.states, *found.states)}
    return PoolsFound(
        states=tuple(states.values()),
        unread=found.unread,
        is_all_asked=found.is_all_asked and more.is_all_asked,
    )


class _TierQuestions:
    """What fees and tick spacings factories have pools of, asked of those that did not say lately;
    what they say is remembered."""

    def __init__(
        self, trip: ReadBatch, context: ChainContext, known: IndexedFacts, *, to_block: int | None
    ) -> None:
        self._trip = trip
        self._desk = context
        self._now_s = int(context.now_s())
        covered = known.covered_factories
        self._dexes = fee_tiers.unread(
            context.chain.dexes, context.tiers, covered=covered, now_s=self._now_s
        )
        asked = fee_tiers.requests(self._dexes, block=trip.block, to_block=to_block)
        self._asked = trip.ask(asked)

    def read(self) -> None:
        """Raises UpstreamError."""
        answers = self._trip[self._asked]
        self._desk.tiers |= fee_tiers.read(self._dexes, answers, now_s=self._now_s)


class _SlotProbes:
    """Where the token and the stables keep balances, asked of those that are not known yet."""

    def __init__(self, trip: ReadBatch, context: ChainContext, token: Address) -> None:
        prober = Address("0x" + secrets.token_hex(20))
        new = [
            one.address for one in context.chain.stables if one.address not in context.quote_slots
        ]
        self._assets = (token, *new)
        self._asked = trip.ask(
            [probe_request(asset, prober, block=trip.block) for asset in self._assets]
        )

    def read(self, trip: ReadBatch, context: ChainContext) -> int | None:
        """The token's slot; the stables' ones are remembered."""
        token_slot, *stable_slots = map(read_probe, trip[self._asked])
        for stable, slot in zip(self._assets[1:], stable_slots, strict=True):
            if slot is not None:
                context.quote_slots[stable] = slot
        return token_slot


def _remember_routers(context: ChainContext, facts: dict[Address, RouterFacts]) -> None:
    """A router without code may be deployed later, so it is asked about again."""
    context.routers |= {router: fact for router, fact in facts.items() if fact.has_code}
