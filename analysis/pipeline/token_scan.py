"""State of one token analysis, and the stages that fill it. `scan.STAGES` has their order."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from analysis.liquidity.liquidity_shares import TokenParties
from analysis.liquidity.token_liquidity import liquidity_powers
from analysis.market.native_price import anchor_prices
from analysis.market.pool_ranking import PENDING, TradeResult, ValuedPool, either, pick_traded
from analysis.pipeline.assemble_report import Facts, combine, of_pools
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.condition_reads import (
    analyse_token_code,
    fee_setters_of,
    is_wait_equal,
    read_hook_conditions,
    read_token_conditions,
    state_words,
    with_hook_fees,
)
from analysis.pipeline.creation_round import explain_creation, find_place
from analysis.pipeline.external_valuation import ExternalValuation, appraise, appraised
from analysis.pipeline.first_round import FirstRound, run_first_round
from analysis.pipeline.gather_facts import gather_facts, owner_slots_of, with_pools
from analysis.pipeline.issuer_round import IssuerFindings, read_issue
from analysis.pipeline.liquidity_round import WeighedLiquidity, find_liquidity
from analysis.pipeline.offload import in_thread_if_large
from analysis.pipeline.pool_simulations import can_simulate
from analysis.pipeline.probe_inquiry import probe_inquiry
from analysis.pipeline.record_round import (
    find_creation_time,
    may_be_established,
    record_evidence,
    thresholds_of,
)
from analysis.pipeline.second_round import MarketState, run_second_round
from analysis.pipeline.theft_inquiry import theft_inquiry
from analysis.pipeline.trade_rounds import Buys, Sales, simulate_buys, simulate_sales
from analysis.reads.indexed_facts import IndexedFacts, MinedTransaction
from analysis.scenarios.conditions import condition_check
from analysis.scenarios.conditions.condition_check import (
    CodeConditions,
    ConditionSimulations,
)
from analysis.scenarios.conditions.hook_evidence import hook_evidence, traded_hooks
from analysis.scenarios.probing.created_balances import ProbeFindings, simulate_probes
from analysis.scenarios.theft.past_custody import PastCustodyEvidence, past_custody
from analysis.scenarios.theft.privileged_candidates import stored_addresses
from analysis.scenarios.theft.theft_checks import (
    TheftFindings,
    TheftInquiry,
    simulate_thefts,
)
from analysis.scenarios.trade import owner_sale, transfer
from analysis.scenarios.trade.transfer import Wallet
from analysis.simulation.backends import perform
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.evidence import simulation_evidence
from analysis.simulation.simulate_v1 import Refused, SimulationResult
from analysis.static.custody.custody_report import StoredAddress
from analysis.token.cap_evaluation import (
    CapInput,
    cap_limits,
    read_cap_words,
    storage_evidence,
    with_caps,
)
from analysis.token.creation_findings import CreationFindings
from analysis.token.creation_state import CreatingTransaction, read_creating
from analysis.token.deadline_state import ClockState, read_clock_state
from analysis.token.deployed_code import DeployedCode
from analysis.token.live_setters import (
    LiveSetters,
    UnprovedCredits,
    read_live_setters,
    standing_hints,
    unproved_credits,
)
from analysis.token.owner_controls import find_controls
from analysis.token.owner_slots import OwnerSlots
from analysis.token.power_evidence import credit_evidence, power_evidence
from analysis.token.power_holders import with_holder_kinds
from analysis.token.powers import (
    clock_powers,
    find_powers,
    replacement_powers,
    settled_names,
    tight_caps,
)
from analysis.token.source_verification import SourceFindings, find_openness
from config.burn import BURN_ADDRESSES
from core.errors import UpstreamError
from core.evm.primitives import Address, BlockRef, Hash32
from core.report.powers import Power
from core.report.report import EvidenceRow, Report
from core.report.track_record import IndexedRecord, TrackRecord, make_record


class TokenScan:
    """One running analysis. Each stage is a method, and sets the attributes that it finds."""

    newest: BlockRef | None
    """None: the first round reads it inside a packed call."""
    known: IndexedFacts
    """Deleted after the first round: rows of very many pools take much memory."""
    no_wallet_at_s: int | None
    indexed_record: IndexedRecord | None
    indexed_creation: MinedTransaction | None
    creation_place: MinedTransaction | None
    """The indexed creation, else the first mint. None: not needed, or not found."""
    creating: CreatingTransaction | None
    """Probable creation. None: not needed, or not found."""
    creation_findings: CreationFindings | None
    """None: not known."""
    first_round: FirstRound
    state: MarketState
    code: DeployedCode
    traded: tuple[ValuedPool, ...]
    senders: tuple[Wallet, ...]
    buys: Buys
    openness: SourceFindings
    appraisal: ExternalValuation
    conditions: CodeConditions
    hook_conditions: Mapping[Address, CodeConditions]
    owner_slots: OwnerSlots
    clock: ClockState
    cap_words: Mapping[Hash32, int]
    stored: Mapping[StoredAddress, Address]
    live_setters: LiveSetters
    powers: tuple[Power, ...]
    """Powers whose named holders are not read yet."""
    held_powers: tuple[Power, ...]
    issue: IssuerFindings
    facts: Facts
    sales: Sales
    owner_sale: tuple[EvidenceRow, ...]
    thefts: TheftFindings
    probes: ProbeFindings
    pools_made: Mapping[str, int]
    """Block of a pool's creation, by Candidate.key, where the index has it."""
    liquidity: WeighedLiquidity
    created_s: int | None
    """See `find_creation_time`."""
    now_s: int
    """Unix seconds when the transfer check was planned."""
    first_report: Report
    """Trades are pending."""
    settled_report: Report

    def __init__(self, context: ChainContext, token: Address, *, redecompile: bool) -> None:
        """`redecompile`: repeat the static analysis and the search for published sources, even if
        their results are stored."""
        self.context = context
        self.token = token
        self.redecompile = redecompile

    # --- first round trip ---------------------------------------------------------------------

    async def read_index(self) -> None:
        """Read the token's indexed facts, and the head where it must be known beforehand."""
        context = self.context
        self.newest = await _newest_block(context)
        anchors = (anchor.address for anchor in context.chain.anchors)
        quotes = [anchor for anchor in anchors if anchor != self.token]
        self.known = await context.index.known(context.chain, self.token, quotes, self.newest)
        self.indexed_creation = self.known.first_transaction

    async def find_mint(self) -> None:
        """Find the first mint, which is probably in the creation, where that is not indexed."""
        self.creation_place = await find_place(
            self.context, self.token, self.indexed_creation, self.newest
        )

    async def read_creating(self) -> None:
        """Read the transaction that probably created the token."""
        place = self.creation_place
        self.creating = (
            None if place is None else await read_creating(self.context.node, self.token, place)
        )

    async def read_first_round(self) -> None:
        """Read everything that needs only the token's address. Raises TokenRefusedError."""
        self.first_round = await run_first_round(self.context, self.token, self.newest, self.known)
        self.no_wallet_at_s = self.known.no_wallet_at_s
        self.indexed_record = self.known.record
        self.pools_made = {row.pool_id or row.pool: row.block_number for row in self.known.pools}
        del self.known

    async def value_pools(self) -> None:
        """Value and rank the pools."""
        self.state = await run_second_round(self.context, self.first_round, self.token)

    async def analyse_code(self) -> None:
        """Analyse the code that holders meet, behind proxies too."""
        self.code = await analyse_token_code(
            self.context, self.first_round, self.token, redecompile=self.redecompile
        )
        self.first_round = msgspec.structs.replace(
            self.first_round, counts_blocks=self.code.counts_blocks
        )

    async def plan(self) -> None:
        """Choose the pools that are traded in, and the wallets that transfers are made from."""
        settings = self.context.settings
        self.traded = pick_traded(
            self.state.pools,
            at_most=settings.simulated_pools,
            min_liquidity_usd=settings.min_liquidity_usd,
        )
        self.now_s = int(self.context.now_s())
        is_due = transfer.is_due(self.no_wallet_at_s, now_s=self.now_s)
        addresses = self.code.hints.addresses
        self.senders = transfer.shortlist(self.state.wallets, addresses) if is_due else ()

    # --- second round trip --------------------------------------------------------------------

    async def simulate_buys(self) -> None:
        """Simulate transfers, and buys in every traded pool."""
        self.buys = await simulate_buys(
            self.context, self.first_round, self.token, self.traded, self.senders
        )

    async def find_sources(self) -> None:
        """Query services for a published source."""
        external = self.context.external
        self.openness = await find_openness(
            external.sources if external else None,
            chain_id=self.context.chain.id,
            token=self.token,
            implementation=self.code.implementation,
            refresh=self.redecompile,
        )

    async def request_prices(self) -> None:
        """Query market-data services for values that the chain's own pools lack."""
        decimals = self.first_round.admitted.metadata.decimals
        self.appraisal = await appraise(self.context, self.state, decimals=decimals)

    async def read_conditions(self) -> None:
        """Read the storage that trade conditions in the token's code depend on."""
        self.conditions = await read_token_conditions(
            self.context, self.token, self.code, block=self.first_round.pin.hash
        )

    async def read_hooks(self) -> None:
        """Analyse the hooks of the traded pools, and read what their conditions depend on."""
        self.hook_conditions = await read_hook_conditions(
            self.context, self.traded, block=self.first_round.pin.hash
        )

    async def read_owner_slots(self) -> None:
        """Read the slots that the code compares the caller with, where they decide something."""
        self.owner_slots = await owner_slots_of(
            self.context.reader(self.first_round.pin.hash),
            self.first_round,
            self.token,
            self.code,
        )

    async def read_clock(self) -> None:
        """Read the contract's clock, and the slots that the code compares with it."""
        reader = self.context.reader(self.first_round.pin.hash)
        self.clock = await read_clock_state(reader, self.token, self.code.clock_limits)

    async def read_caps(self) -> None:
        """Read the slots that decide caps on trades and positions, and those that evidence
        names."""
        reader = self.context.reader(self.first_round.pin.hash)
        self.cap_words = await read_cap_words(
            reader, self.token, self.code.cap_rules, self.code.evidence
        )

    async def read_parties(self) -> None:
        """Read the addresses in storage that the code gives powers to, and what decides them."""
        reader = self.context.reader(self.first_round.pin.hash)
        hints, powers = self.code.hints, self.code.powers
        named = [each.slot for each in hints.stored]
        live = await read_live_setters(reader, self.token, powers, others=named)
        self.stored = stored_addresses(hints.stored, [live.words.get(slot) for slot in named])
        self.live_setters = live

    async def read_power_holders(self) -> None:
        """Read the code of the accounts that hold powers."""
        self.held_powers = await with_holder_kinds(
            self.context.reader(self.first_round.pin.hash),
            self.powers,
            analyse=self.context.analyse_code,
        )

    async def read_issuer(self) -> None:
        """Query launch platforms for the token and its bonding curves."""
        self.issue = await read_issue(
            self.context, self.first_round, self.token, has_pool=bool(self.state.pools)
        )

    async def report_first(self) -> None:
        """Make the report whose trades are pending."""
        caps = CapInput(
            rules=self.code.cap_rules,
            words=self.cap_words,
            supply_raw=self.first_round.admitted.metadata.supply_raw,
            clock=self.clock.reading,
        )
        setters = fee_setters_of(self.traded, self.hook_conditions)
        static, fee_powers = with_hook_fees(with_caps(self.code.findings, caps), setters)
        self.code = msgspec.structs.replace(self.code, findings=static)
        limits = cap_limits(static, caps)
        found = gather_facts(
            self.context,
            self.first_round,
            self.token,
            self.code,
            self.owner_slots,
            self.clock,
            self.issue,
        )
        controls = find_controls(
            self.conditions.conditions,
            [hook.conditions for hook in self.hook_conditions.values()],
            static,
            is_renounced=found.ownership.ownership_renounced,
            live=self.live_setters,
        )
        self.powers = (
            *find_powers(
                self.code.powers,
                self.live_setters,
                self.conditions.conditions,
                controls,
                caps,
            ),
            *replacement_powers(self.code, self.live_setters),
            *fee_powers,
            *tight_caps(limits, caps.supply_raw),
        )
        self.facts = msgspec.structs.replace(
            found,
            trades={pool.candidate.key: PENDING for pool in self.traded},
            transfer_checked_at_s=self.no_wallet_at_s,
            hidden_owner_controls=controls.is_hidden,
            caps=limits,
            powers=self.powers,
            are_powers_known=self.code.powers.is_complete,
            state=state_words(
                self.token,
                (self.first_round.standard_slots.words, self.cap_words, self.clock.words),
                (self.conditions, *self.hook_conditions.values()),
            ),
            evidence=(*found.evidence, *controls.evidence, *storage_evidence(caps, limits)),
        )
        self.first_report = await self._report(self.facts, self.state.pools, is_settled=False)

    # --- third round trip ---------------------------------------------------------------------

    async def simulate_sales(self) -> None:
        """Simulate sales, now and later, and the conditions that may turn them."""
        parties = {*self._owners, *self.code.hints.addresses, *self.stored.values()}
        conditions = with_live_names(self.conditions, self.live_setters)
        self.sales = await simulate_sales(
            self.context,
            self.first_round,
            self.buys,
            wallets=self.state.wallets,
            special=parties,
            static=self.code.findings,
            is_wait_equal=is_wait_equal(
                self.conditions,
                {
                    *(self.token, *self._owners, *BURN_ADDRESSES),
                    *known_contracts(self.context, self.state.pools),
                },
            ),
            checks=write_condition_checks(
                self.context,
                self.first_round,
                self.state.pools,
                self.buys,
                conditions,
                self.hook_conditions,
            ),
        )

    async def simulate_owner_sale(self) -> None:
        """Simulate a sale by the owner where buyers' sales are refused."""
        self.owner_sale = await simulate_owner_sale(
            self.context, self.first_round, self.buys, self.sales.trades, self._owners
        )

    async def simulate_thefts(self) -> None:
        """Simulate attempts on a holder's tokens."""
        self.thefts = await simulate_thefts(
            self.context.node,
            self.context.capabilities,
            self._theft_inquiry(),
            reader=self.context.reader(self.first_round.pin.hash),
            codes=self.first_round.codes,
        )

    async def simulate_probes(self) -> None:
        """Simulate calls by which ordinary accounts may create balances."""
        self.probes = await simulate_probes(
            self.context.node,
            self.context.capabilities,
            probe_inquiry(
                self.context,
                self.first_round,
                self.state,
                self._theft_inquiry(),
                owners=self._owners,
                buys=self.buys,
            ),
            codes=self.first_round.codes,
        )

    async def explain_creation(self) -> None:
        """Compare what the creation left behind with its events."""
        self.creation_findings = await explain_creation(
            self.context,
            self.first_round,
            self.token,
            self.creating,
            code=self.code,
        )

    async def weigh_liquidity(self) -> None:
        """Find the holders of the liquidity, where the deployment or the track record needs them;
        for the latter also the age."""
        is_candidate = may_be_established(self.context, self.indexed_record)
        block = self.first_round.pin
        self.liquidity = await find_liquidity(
            self.context,
            self.state.pools,
            TokenParties(
                creator=self.first_round.holdings.creator,
                owner=next(iter(self.first_round.owners), None),
            ),
            made=self.pools_made,
            block=block,
            reads_old=is_candidate,
        )
        self.created_s = await find_creation_time(self.context, self.indexed_record, block=block)

    async def report_settled(self) -> None:
        """Make the report that is complete."""
        pools = appraised(
            self.state,
            self.appraisal,
            anchor_prices(self.context.chain, self.first_round.native_usd),
            decimals=self.first_round.admitted.metadata.decimals,
        )
        creation, past = self.creation_findings, self._past()
        ended = creation.ended if creation else ()
        credits = unproved_credits(self.code.powers, self.live_setters, explained=ended)
        evidence = (
            *(*self.facts.evidence, *self.buys.evidence, *self._hook_evidence()),
            *(*self.sales.evidence, *self.owner_sale, *self.thefts.evidence),
            *self.probes.evidence,
            *(*self.liquidity.evidence, *(() if creation is None else (creation.evidence,))),
            *(*credit_evidence(credits.every if credits else None), *past.rows),
        )
        record = self._track_record()
        is_harmed = of_pools(self.sales.trades, "sell_blocked_later", "sell_tax_rises")
        powers = (
            *settled_names(self.held_powers, is_harm=self.sales.names_harm),
            *liquidity_powers(self.liquidity.holders),
            *clock_powers(
                self.conditions.conditions,
                self.facts.clock,
                is_found=self.code.findings.timebomb,
                is_settled=self.sales.untested_conditions is False and is_harmed is False,
            ),
        )
        facts = msgspec.structs.replace(
            self.facts,
            powers=powers,
            trades=self.sales.trades,
            transfer=self.sales.transfer,
            transfer_checked_at_s=transfer.checked_at_s(
                self.sales.transfer, no_wallet_at_s=self.no_wallet_at_s, now_s=self.now_s
            ),
            custody=self._custody(past.is_unproved),
            hidden_owner_controls=self.sales.names_harm or self.facts.hidden_owner_controls,
            balances_can_be_created=self.probes.value,
            is_sale_blocked_by_calls=self.probes.blocks_sales,
            creation=creation,
            creates_balances=self._creates_balances(credits),
            untested_conditions=self.sales.untested_conditions,
            liquidity_risk=self.liquidity.risk,
            liquidity_holders=self.liquidity.holders,
            track_record=record,
            openness=self.openness,
            evidence=_last_of_each_key(
                (*evidence, power_evidence(powers, self.code), *record_evidence(record))
            ),
        )
        self.settled_report = await self._report(facts, pools, is_settled=True)

    def _hook_evidence(self) -> Iterator[EvidenceRow]:
        """Yield what the hooks of the traded pools take and allow."""
        bought = (
            (setup.candidate, setup.route.router, bought.pool_fee_pct)
            for setup, bought in self.buys.bought
        )
        conditions = {hook: code.conditions for hook, code in self.hook_conditions.items()}
        return hook_evidence(traded_hooks(bought, conditions))

    def _creates_balances(self, credits: UnprovedCredits | None) -> bool | None:
        """Return the report field. None: not proved, and calls did not stand in for it."""
        probed = self.probes.functions_run if self.probes.value is False else ()
        return None if credits is None else credits.create_balances(probed=probed)

    def _track_record(self) -> TrackRecord | None:
        """Return the track record. None: the index does not have the token."""
        if self.indexed_record is None:
            return None
        return make_record(
            self.indexed_record,
            created_s=self.created_s,
            block_time_s=self.first_round.pin.time_s,
            liquidity_usd=self.liquidity.of_others_usd,
            thresholds=thresholds_of(self.context.settings),
        )

    def _past(self) -> PastCustodyEvidence:
        inquiry, found = self._theft_inquiry(), self.creation_findings
        is_fixed = not self.code.findings.is_proxy or self.code.is_replaceable is False
        then = None if found is None else found.parties
        return past_custody(
            self.code.hints,
            now=self.stored,
            then=None if then is None else {each.place: each.address for each in then},
            trusted=inquiry.trusted,
            consenting=inquiry.consenting,
            is_replaced=found.is_replaced if found else False if is_fixed else None,
        )

    def _custody(self, past: bool | None) -> TheftFindings:
        """Return the theft findings, with what the probes took and what may have happened.

        A pool consents to nothing that ordinary callers do with its tokens.
        """
        found = self.thefts
        if self.probes.takes_from_others:
            found = msgspec.structs.replace(found, funds_can_be_drained=True)
        pools = {pool.candidate.holder for pool in self.state.pools}
        used = self.code.hints.accounts_used
        accounts = {each.address for each in used} | {
            self.stored.get(each.place) for each in used if each.place is not None
        }
        is_used = not pools.isdisjoint(accounts)
        return msgspec.structs.replace(found, is_unproved=either(found.is_unproved, past, is_used))

    def _theft_inquiry(self) -> TheftInquiry:
        return theft_inquiry(
            self.context,
            self.first_round,
            self.token,
            self.state,
            standing_hints(self.code.hints, self.code.powers, self.live_setters),
            owners=self._owners,
            stored=self.stored,
            buys=self.buys,
        )

    @property
    def _owners(self) -> tuple[Address, ...]:
        return (*self.first_round.owners, *(self.owner_slots.wallets or ()))

    async def _report(
        self, facts: Facts, pools: tuple[ValuedPool, ...], *, is_settled: bool
    ) -> Report:
        def make() -> Report:
            return combine(
                with_pools(self.context, facts, self.state, pools, self.issue),
                is_settled=is_settled,
                now_s=int(self.context.now_s()),
                min_liquidity_usd=self.context.settings.min_liquidity_usd,
            )

        return await in_thread_if_large(make, pools=len(self.state.pools))


async def _newest_block(context: ChainContext) -> BlockRef | None:
    """Return the head, if it is known without a read, or must be fetched beforehand.

    None: the first round reads it inside a packed call. That needs packed reads, and a chain whose
    contracts see its own block numbers.
    """
    newest = context.newest()
    if newest is None and not (
        context.chain.clock == "own" and context.capabilities.packs.is_worth_trying
    ):
        newest = await context.node.fetch_head()
    return newest


def _last_of_each_key(rows: tuple[EvidenceRow, ...]) -> tuple[EvidenceRow, ...]:
    return tuple({row.key: row for row in rows}.values())


async def simulate_owner_sale(
    context: ChainContext,
    first_round: FirstRound,
    buys: Buys,
    trades: Mapping[str, TradeResult],
    owners: Sequence[Address],
) -> tuple[EvidenceRow, ...]:
    """Return the evidence of a sale by the first owner, in the first pool that refuses buyers'.

    Empty: there is no owner or no such pool, or the node did not simulate. Never raises
    UpstreamError, as no finding depends on it.
    """
    owner = next((each for each in owners if each not in BURN_ADDRESSES), None)
    refusing = (
        setup for setup, _ in buys.bought if isinstance(trades[setup.candidate.key].sell, Refused)
    )
    setup = next(refusing, None)
    if owner is None or setup is None or not can_simulate(context):
        return ()
    supply_raw = first_round.admitted.metadata.supply_raw
    written = owner_sale.write_simulation(setup, owner, supply_raw=supply_raw)
    if written is None:
        return ()
    job = SimulationJob(simulation=written.simulation, pool=setup.candidate.pool)
    try:
        (result,) = await perform(
            context.node, context.capabilities, [job], codes=first_round.codes
        )
    except UpstreamError:
        return ()
    if not isinstance(result, SimulationResult):
        return ()
    return (
        simulation_evidence(
            f"sell_by_owner:{setup.candidate.key}",
            owner_sale.VERSION,
            written.simulation,
            result,
            owner_sale.read_result(written, result),
            shown=written.shown,
        ),
    )


def known_contracts(context: ChainContext, pools: Sequence[ValuedPool]) -> set[Address]:
    """Return the configured exchanges, the quote tokens and the token's pools."""
    return {
        *(
            place
            for dex in context.chain.dexes
            for place in (dex.factory, dex.router, dex.vault)
            if place
        ),
        *(anchor.address for anchor in context.chain.anchors),
        *(pool.candidate.pool for pool in pools),
    }


def with_live_names(code: CodeConditions, live: LiveSetters) -> CodeConditions:
    """Return the conditions without the addresses that nobody can set any more."""
    named = tuple(each for each in code.conditions.named if not live.is_dead(each))
    conditions = msgspec.structs.replace(code.conditions, named=named)
    return msgspec.structs.replace(code, conditions=conditions)


def write_condition_checks(
    context: ChainContext,
    first_round: FirstRound,
    pools: Sequence[ValuedPool],
    buys: Buys,
    token_conditions: CodeConditions,
    hooks: Mapping[Address, CodeConditions],
) -> list[ConditionSimulations | None]:
    """Return condition simulations by pool: a hook's in its own, the token's in the deepest one
    where a buy passed. Other pools repeat those of the token's that can condemn a sale."""
    if not can_simulate(context):
        return [None] * len(buys.bought)
    reserves = {pool.candidate.key: pool.state.token_reserve_raw for pool in pools}
    known = known_contracts(context, pools)
    found: list[ConditionSimulations | None] = []
    for setup, bought in buys.bought:
        hook = hooks.get(setup.candidate.hooks) if setup.candidate.hooks else None
        is_settled = any(check is not None for check in found)
        of_hook, of_token = [hook] if hook else [], [token_conditions]
        check = condition_check.write_simulations(
            setup,
            bought,
            of_hook if is_settled else of_token + of_hook,
            repeated=of_token if is_settled else (),
            supply_raw=first_round.admitted.metadata.supply_raw,
            pool_balance_raw=reserves[setup.candidate.key],
            known=known,
            block_time_s=context.chain.block_time_s,
        )
        found.append(check)
    return found
