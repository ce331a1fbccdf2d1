"""The first round trip: admission of the token, and every read that needs only its address.

Reads that depend on another answer (a pool's reserves, the code behind a proxy, the contract in a
slot) go in the same round, to addresses that the round itself returns. Reads of trusted contracts
come first, so that the token cannot use up their gas.
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
from core.primitives import Address, BlockRef
from core.rpc.messages import RpcAnswer, RpcFault

_HOLDERS_ASKED = 20
"""Holders read. Some will turn out to be pools or owners, which is not known yet."""


class HolderAccount(msgspec.Struct, frozen=True, kw_only=True):
    """An indexed holder, with its balance and kind read from the chain."""

    address: Address
    balance_raw: int
    is_account: bool
    """True if it has no code, or that of EIP-7702."""


class FirstRound(msgspec.Struct, frozen=True, kw_only=True):
    """Results of the first round."""

    pin: BlockRef
    disguise: Disguise
    admitted: Admitted
    proxy_answers: tuple[RpcAnswer, ...]
    """To `proxy_resolution.first_requests`; reading them needs the static analysis, which takes a
    while."""
    memory: Mapping[bytes, RpcAnswer]
    """Answers to reads that proxy resolution may need next, by `memory_key`."""
    codes: tuple[bytes, ...]
    """The token's own, and those found behind it."""
    burned: Burned
    owners: tuple[Address, ...]
    """Addresses that the owner getters returned."""
    native_usd: float | None
    """US dollars. None: neither the oracle nor a pool has a usable price."""
    states: tuple[tuple[Candidate, PoolState | None], ...]
    """Pools against the anchors, from the index and from factories, each once."""
    unread: tuple[Candidate, ...]
    """AmmV4 pools whose state has not been read yet."""
    is_all_asked: bool
    """False: a node failed a read about pools, so there may be more of them."""
    holders: tuple[HolderAccount, ...]
    """The largest of the index, largest first."""
    holdings: TopHolders
    lead: Lead
    """Evidence so far of who issued the token."""
    token_slot_index: int | None
    """Index of the token's balance slot. None: not found."""


async def run_first_round(
    context: ChainContext, token: Address, newest: BlockRef | None, known: IndexedFacts
) -> FirstRound:
    """Read everything that needs only the token's address, in one round trip.

    `newest` None: the round itself determines the newest block. Raises TokenRefusedError when the
    token is not admitted, UpstreamError when the node fails.
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
    """Return the oracle's price, else that of pools. Pools are read late where the oracle worked
    before."""
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
    """Request the code that resolution of a usual proxy needs: of an address pushed by the proxy's
    code, in a standard slot, behind a beacon in one, or returned by its getter."""
    first = proxied.start
    beacon_at = first + proxy_resolution.STANDARD_SLOTS.index(proxy_resolution.BEACON_SLOT)
    asked = trip.ask(proxy_resolution.beacon_requests(trip.promise(beacon_at), block=trip.block))
    targets = [code, *(at for at in range(first, proxied.stop) if at != beacon_at), asked.start]
    codes = trip.ask([code_at(trip.promise(at), block=trip.block) for at in targets])
    return slice(asked.start, codes.stop)


def _codes(answers: Sequence[RpcAnswer]) -> list[bytes]:
    """Return each code once; of a zero or missing address the code is empty and left out."""
    codes = (b"" if isinstance(answer, RpcFault) else read_code(answer) for answer in answers)
    return [code for code in dict.fromkeys(codes) if code]


def _possible_holders(token: Address, known: IndexedFacts) -> list[Address]:
    """Return indexed holders that, from the index alone, are no pools, creators or burn
    addresses."""
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
    """Read in one more round the pools of fees or tick spacings that factories named only now."""
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
    """Reads of the fees and tick spacings that factories support, of those not read lately; the
    answers are kept in the chain context."""

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
        """Store the answers in the chain context. Raises UpstreamError."""
        answers = self._trip[self._asked]
        self._desk.tiers |= fee_tiers.read(self._dexes, answers, now_s=self._now_s)


class _SlotProbes:
    """Probes for the balance slots of the token and of the stables, where not known yet."""

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
        """Return the token's slot index, None if not found; keep those of the stables in the
        context."""
        token_slot, *stable_slots = map(read_probe, trip[self._asked])
        for stable, slot in zip(self._assets[1:], stable_slots, strict=True):
            if slot is not None:
                context.quote_slots[stable] = slot
        return token_slot


def _remember_routers(context: ChainContext, facts: dict[Address, RouterFacts]) -> None:
    """Keep routers that have code. One without may be deployed later, so it is read again."""
    context.routers |= {router: fact for router, fact in facts.items() if fact.has_code}
