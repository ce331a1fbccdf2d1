"""Chain context: configuration, node, index and learnt facts of one chain, for all its analyses."""

import secrets
from collections import deque
from collections.abc import Callable, Mapping
from time import monotonic

import msgspec

from analysis.external.connect import ExternalServices
from analysis.market.fee_tiers import Tiers
from analysis.market.routers import RouterFacts
from analysis.reads.block_reader import BlockReader
from analysis.reads.chain_reads import ContractRead, RequestHandle
from analysis.reads.indexed_facts import FactsIndex
from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.read_batch import ReadBatch
from analysis.reads.rpc_reads import ReadAnswer
from analysis.simulation import fee_market
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Simulation,
    SimulationResult,
)
from analysis.static.result_cache import StaticResultCache
from config.chains import Chain
from config.settings import AnalysisSettings
from core.primitives import Address, BlockRef, Hash32
from core.rpc.headers import Header

_PROPOSERS_KEPT = 16


class ChainContext:
    """One chain's configuration, node and index, with caches of facts that do not depend on the
    token."""

    def __init__(
        self,
        *,
        chain: Chain,
        node: Node,
        knowledge: FactsIndex,
        settings: AnalysisSettings,
        now_s: Callable[[], float],
        newest: Callable[[], BlockRef | None] = lambda: None,
        outside: ExternalServices | None = None,
        examiner: StaticResultCache | None = None,
    ) -> None:
        """`newest` returns the head where an indexer follows the chain; None: it must be fetched.
        `outside` None: no external service is used."""
        self.chain = chain
        self.node = node
        self.knowledge = knowledge
        self.settings = settings
        self.now_s = now_s
        self.newest = newest
        self.outside = outside
        self.capabilities = NodeCapabilities()
        self.native_usd: float | None = None
        """US dollars of the native coin at the last analysis. None: not known."""
        self.has_oracle = False
        """True if the oracle's last price was usable: pools need not be read beside it."""
        self.examiner = StaticResultCache() if examiner is None else examiner
        """Shared by all chains of a service; a cache in memory of its own where none is given."""
        self.routers: dict[Address, RouterFacts] = {}
        """Routers that have code."""
        self.tiers: dict[Address, Tiers] = {}
        """Fees and tick spacings, by factory."""
        self.quote_slots: dict[Address, int] = {}
        """Index of the balance slot of each stable, once found."""

        self._secret = secrets.token_hex(16)
        self._tips_wei = fee_market.TYPICAL_TIPS_WEI
        self._keeps_base_fee: bool | None = None
        self._fees_until_s = 0.0
        self._proposers: deque[Address] = deque(maxlen=_PROPOSERS_KEPT)

    def ask_fees(self, batch: ReadBatch) -> RequestHandle[tuple[int, int]] | None:
        """Add the request for recent fees. None: the last ones are recent enough."""
        if monotonic() < self._fees_until_s:
            return None
        return batch.request(fee_market.history_request(), returns=fee_market.read_tips)

    def learn_fees(self, tips_wei: tuple[int, int] | None, *, proposer: Address) -> None:
        """Keep the fees, if they were requested, and the proposer of the newest block seen."""
        if tips_wei is not None:
            self._tips_wei = tips_wei
            self._fees_until_s = monotonic() + fee_market.REMEMBERED_S
        if proposer not in self._proposers:
            self._proposers.append(proposer)

    def disguise(self, header: Header, token: Address) -> Disguise:
        """Return the accounts, fees and block fields of simulations in one token's analysis."""
        return Disguise(
            secret=f"{self._secret}:{header.ref.hash}:{token}",
            base_fee_wei=header.base_fee_wei,
            proposers=tuple(self._proposers) or (header.proposer,),
            tips_wei=self._tips_wei,
            is_validated=self._keeps_base_fee is False,
        )

    @property
    def is_base_fee_open(self) -> bool:
        """True if a simulation is still to probe whether simulated blocks keep the base fee."""
        return self._keeps_base_fee is None

    def learn_base_fee(
        self, simulation: Simulation, probe: CallHandle, result: SimulationResult | NotSimulated
    ) -> None:
        """Keep the result of `probe`, of `fee_market.with_probe`."""
        kept = fee_market.keeps_base_fee(simulation, probe, result)
        if kept is not None:
            self._keeps_base_fee = kept

    def checked(self, disguise: Disguise) -> Disguise:
        """Return the disguise with what was learnt of the base fee since it was made."""
        return msgspec.structs.replace(disguise, is_validated=self._keeps_base_fee is False)

    def reader(
        self, block: Hash32, *, memory: Mapping[ContractRead, ReadAnswer] | None = None
    ) -> BlockReader:
        """Return a reader of one block, for steps that send batches of reads by themselves.

        `memory`: answers that are known already.
        """
        return BlockReader(self.node, block=block, capabilities=self.capabilities, memory=memory)
