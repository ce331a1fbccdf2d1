"""The first round trip: admission of the token, and every read that needs only its address.

Reads that depend on another answer (a pool's reserves, the code behind a proxy, the contract in a
slot) go in the same round, to addresses that the round itself returns. Reads of trusted contracts
come first, so that the token cannot use up their gas.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from analysis.launchpads import origin
from analysis.launchpads.origin import OriginEvidence, OriginReads
from analysis.market import fee_tiers, routers
from analysis.market.fee_tiers import TierReads
from analysis.market.native_price import NativePools, OracleRead
from analysis.market.pool_queries import PoolReads, PoolsFound
from analysis.market.routers import RouterReads
from analysis.market.venues.pool import Candidate, PoolState
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.offload import in_thread_if_large
from analysis.reads.chain_reads import AnswerAddress, ContractRead
from analysis.reads.eth_reads import decode_uint
from analysis.reads.indexed_facts import IndexedFacts
from analysis.reads.read_batch import ReadBatch
from analysis.reads.rpc_reads import ReadAnswer
from analysis.simulation.balance_slot import BalanceProbe
from analysis.simulation.disguise import Disguise
from analysis.token.admission import (
    DELEGATION_BYTES,
    AdmissionReads,
    Admitted,
    is_delegated_account,
)
from analysis.token.burned_supply import Burned, BurnReads
from analysis.token.holders import HolderReads, TopHolders, creators_named
from analysis.token.ownership import OwnerReads
from analysis.token.proxy_resolution import ProxyReads, StandardSlots
from config.burn import BURN_ADDRESSES
from config.facts.chain import Chain, Dex
from core.evm.primitives import Address, BlockRef

_MOST_HOLDERS = 20
"""Holders that are read. Some turn out to be pools or owners later."""


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
    standard_slots: StandardSlots
    """Start of proxy resolution."""
    memory: Mapping[ContractRead, ReadAnswer]
    """Answers to reads that proxy resolution may need next."""
    codes: tuple[bytes, ...]
    """Code of the token, and codes behind it."""
    burned: Burned
    owners: tuple[Address, ...]
    """Addresses that the owner getters returned."""
    native_usd: float | None
    """US dollars. None: neither the oracle nor a pool has a usable price."""
    states: tuple[tuple[Candidate, PoolState | None], ...]
    """Pools against the anchors, from the index and from factories, each once."""
    unread: tuple[Candidate, ...]
    """Entries of one contract whose state has not been read yet."""
    is_every_pool_read: bool
    """False: a node failed a read about pools, so there may be more of them."""
    holders: tuple[HolderAccount, ...]
    """Largest indexed holders, largest first."""
    holdings: TopHolders
    lead: OriginEvidence
    """Evidence of the token's issuer, as far as known."""
    token_slot_index: int | None
    """Index of the token's balance slot. None: not found."""
    counts_blocks: bool = True
    """False, once the code is analysed: nothing that its trades run can read a block's number."""


async def run_first_round(
    context: ChainContext, token: Address, newest: BlockRef | None, known: IndexedFacts
) -> FirstRound:
    """Read everything that needs only the token's address, in one round trip.

    `newest` None: the round itself determines the newest block. Raises TokenRefusedError when the
    token is not admitted, UpstreamError when the node fails.
    """
    memory = context.memory
    batch = ReadBatch(newest.hash if newest else None, needs_header=True)
    height = newest.number if newest else None
    market = _MarketReads(context, token, known)
    await market.add(batch, to_block=height)
    of_token = _TokenReads(batch, context, token, known, to_block=height)
    await market.add_states(to_block=height)
    of_token.add_holders(batch, known, pools=market.places)
    tips = memory.request_tips(batch)
    await batch.send(context.node, context.capabilities)

    header = batch.header
    if tips is not None:
        memory.remember_tips(batch[tips])
    memory.remember_proposer(header.proposer)
    admitted = of_token.admission.read()
    found, native_usd = await market.read(header.ref)
    burned = of_token.burns.read()
    accounts = of_token.accounts.read()
    return FirstRound(
        pin=header.ref,
        disguise=memory.disguise(header, token),
        admitted=admitted,
        standard_slots=of_token.proxy.read(),
        memory=of_token.proxy.memory(),
        codes=(admitted.code, *of_token.proxy.read_codes()),
        burned=burned,
        owners=of_token.owners.read(),
        native_usd=native_usd,
        states=found.states,
        unread=found.unread,
        is_every_pool_read=found.is_complete,
        holders=accounts,
        holdings=of_token.holders.read(
            {
                **{row.owner: row.amount_raw for row in burned.holders},
                **{holder.address: holder.balance_raw for holder in accounts},
            },
            supply_raw=admitted.metadata.supply_raw,
        ),
        token_slot_index=of_token.slots.read(),
        lead=of_token.issuer.read(height=header.ref.number),
    )


class _TokenReads:
    """Reads of the token itself: admission, code, owners, holders, issuer."""

    holders: HolderReads

    def __init__(
        self,
        batch: ReadBatch,
        context: ChainContext,
        token: Address,
        known: IndexedFacts,
        *,
        to_block: int | None,
    ) -> None:
        chain = context.chain
        self._token = token
        self.slots = _BalanceSlots(batch, context, token)
        self.admission = AdmissionReads(batch, token)
        self.proxy = ProxyReads(batch, token)
        self.proxy.follow(self.admission.code)
        self.burns = BurnReads(batch, token)
        self.owners = OwnerReads(batch, token)
        self.accounts = _AccountReads(batch, token, _possible_holders(chain, token, known))
        self._inquiry = origin.begin(
            chain.launchpads,
            token,
            known.launches,
            known.covered_launches,
            can_walk=context.is_replayable or context.capabilities.packs.is_worth_trying,
        )
        self.issuer = OriginReads(batch, self._inquiry, to_block=to_block)

    def add_holders(
        self, batch: ReadBatch, known: IndexedFacts, *, pools: Iterable[Address | AnswerAddress]
    ) -> None:
        """Add the balances of owners, pools and launch platforms, which the round itself names."""
        self.holders = HolderReads(
            batch,
            self._token,
            known,
            places=(
                *map(AnswerAddress, self.owners.getters),
                *pools,
                *(question.at for question in self._inquiry.questions),
            ),
            already_read=self.accounts.addresses,
        )


class _MarketReads:
    """Reads of the token's pools, the native coin's price, and routers and factories."""

    _pools: PoolReads
    _native: NativePools | None
    _oracle: OracleRead
    _routers: Mapping[Address, RouterReads]
    _tiers: "_NewTiers"

    def __init__(self, context: ChainContext, token: Address, known: IndexedFacts) -> None:
        self._context = context
        self._token = token
        self._known = known
        self._quotes = [each.address for each in context.chain.anchors if each.address != token]
        self._dexes = fee_tiers.with_enabled(context.chain.dexes, context.memory.recall_tiers())

    async def add(self, batch: ReadBatch, *, to_block: int | None) -> None:
        """Add all reads but those of the pools' states."""
        chain, memory = self._context.chain, self._context.memory
        self._pools = await in_thread_if_large(
            lambda: PoolReads(batch, self._dexes, self._token, self._quotes, self._known),
            pools=len(self._known.pools),
        )
        self._native = None if memory.has_oracle else NativePools(batch, chain)
        self._oracle = OracleRead(batch, chain.oracle)
        self._routers = {
            router: RouterReads(batch, router)
            for router in routers.unread(chain, memory.recall_routers())
        }
        self._tiers = _NewTiers(batch, self._context, self._known, to_block=to_block)

    async def add_states(self, *, to_block: int | None) -> None:
        """Add the reads of the pools' states."""
        await in_thread_if_large(
            lambda: self._pools.request_states(to_block=to_block), pools=len(self._known.pools)
        )

    @property
    def places(self) -> Iterable[Address | AnswerAddress]:
        """Addresses of the pools, as far as the round names them."""
        return self._pools.places

    async def read(self, block: BlockRef) -> tuple[PoolsFound, float | None]:
        """Return the pools, and the native coin's price in USD. Raises UpstreamError."""
        chain, memory = self._context.chain, self._context.memory
        wrapped = chain.wrapped_native.address
        memory.remember_routers(
            {router: reads.read(wrapped=wrapped) for router, reads in self._routers.items()}
        )
        found = await in_thread_if_large(self._pools.read, pools=len(self._known.pools))
        self._tiers.remember()
        late = fee_tiers.with_new(chain.dexes, self._dexes, memory.recall_tiers())
        if late:
            found = await self._with_late(block, late, found)
        return found, await _read_price(self._context, block, self._native, self._oracle)

    async def _with_late(
        self, block: BlockRef, dexes: Sequence[Dex], found: PoolsFound
    ) -> PoolsFound:
        """Read in one more round the pools of fees or tick spacings that factories named only
        now."""
        batch = ReadBatch(block.hash)
        rest = IndexedFacts(covered_factories=self._known.covered_factories)
        pools = PoolReads(batch, dexes, self._token, self._quotes, rest)
        pools.request_states(to_block=block.number)
        await batch.send(self._context.node, self._context.capabilities)
        more = pools.read()
        states = {pool.key: (pool, state) for pool, state in (*more.states, *found.states)}
        return PoolsFound(
            states=tuple(states.values()),
            unread=found.unread,
            is_complete=found.is_complete and more.is_complete,
        )


async def _read_price(
    context: ChainContext, block: BlockRef, pools: NativePools | None, oracle: OracleRead
) -> float | None:
    """Return the oracle's price, else that of pools. Pools are read late where the oracle worked
    before."""
    usd = oracle.read(time_s=block.time_s)
    has_oracle = usd is not None
    if usd is None:
        usd = await _read_pool_price(context, block, pools)
    context.memory.remember_native_price(usd, has_oracle=has_oracle)
    return usd


async def _read_pool_price(
    context: ChainContext, block: BlockRef, pools: NativePools | None
) -> float | None:
    if pools is None:
        late = ReadBatch(block.hash)
        pools = NativePools(late, context.chain)
        await late.send(context.node, context.capabilities)
    return pools.read()


def _possible_holders(chain: Chain, token: Address, known: IndexedFacts) -> list[Address]:
    """Return indexed holders that, from the index alone, are no pools, creators, burn
    addresses or holders for many others."""
    special = {token, *BURN_ADDRESSES, *(pool.pool for pool in known.pools), *chain.custodians}
    special |= set(creators_named(known))
    plain = (holder for holder, _ in known.holders if holder not in special)
    return [holder for holder, _ in zip(plain, range(_MOST_HOLDERS), strict=False)]


class _AccountReads:
    """Reads of the balance and the code of each possible holder."""

    def __init__(self, batch: ReadBatch, token: Address, addresses: Sequence[Address]) -> None:
        self._batch = batch
        self.addresses = addresses
        self._balances = [
            batch.call(token, "balanceOf(address)", holder, returns=decode_uint)
            for holder in addresses
        ]
        self._codes = [batch.code(holder, first_bytes=DELEGATION_BYTES) for holder in addresses]

    def read(self) -> tuple[HolderAccount, ...]:
        """Decode the answers; a balance that the token does not return is zero. Raises
        UpstreamError."""
        batch = self._batch
        return tuple(
            HolderAccount(
                address=holder,
                balance_raw=batch[balance] or 0,
                is_account=not batch[code] or is_delegated_account(batch[code]),
            )
            for holder, balance, code in zip(
                self.addresses, self._balances, self._codes, strict=True
            )
        )


class _NewTiers:
    """Reads of fees and tick spacings, from factories that were not read lately."""

    def __init__(
        self, batch: ReadBatch, context: ChainContext, known: IndexedFacts, *, to_block: int | None
    ) -> None:
        self._memory = context.memory
        self._now_s = int(context.now_s())
        dexes = fee_tiers.unread(
            context.chain.dexes,
            context.memory.recall_tiers(),
            covered=known.covered_factories,
            now_s=self._now_s,
        )
        self._reads = TierReads(batch, dexes, to_block=to_block)

    def remember(self) -> None:
        """Keep the answers. Raises UpstreamError."""
        self._memory.remember_tiers(self._reads.read(now_s=self._now_s))


class _BalanceSlots:
    """Probes for the balance slots of the token and of the stables, where not known yet."""

    def __init__(self, batch: ReadBatch, context: ChainContext, token: Address) -> None:
        prober = context.memory.prober(token)
        self._memory = context.memory
        self._token = BalanceProbe(batch, token, prober)
        self._stables = {
            stable.address: BalanceProbe(batch, stable.address, prober)
            for stable in context.chain.stables
            if context.memory.recall_balance_slot(stable.address) is None
        }

    def read(self) -> int | None:
        """Return the token's slot index, None if not found; keep those of the stables.

        Raises UpstreamError.
        """
        token_slot = self._token.read()
        for stable, probe in self._stables.items():
            slot = probe.read()
            if slot is not None:
                self._memory.remember_balance_slot(stable, slot)
        return token_slot
