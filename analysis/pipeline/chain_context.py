"""Chain context: configuration, node, index and learnt facts of one chain, for all its analyses."""

import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from time import monotonic

import msgspec

from analysis.external.connect import ExternalServices
from analysis.market.fee_tiers import Tiers
from analysis.market.routers import RouterFacts
from analysis.reads.indexed_facts import FactsIndex
from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.pinned_block import PinnedHeader
from analysis.reads.read_batch import BatchingNode
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
from core.primitives import Address, BlockRef
from core.rpc.messages import RpcAnswer, RpcRequest

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

    def fee_questions(self) -> tuple[RpcRequest, ...]:
        """Return the fee requests of the first round trip. Empty: the last answers are recent
        enough."""
        return () if monotonic() < self._fees_until_s else (fee_market.history_request(),)

    def learn_fees(self, answers: Sequence[RpcAnswer], *, proposer: Address) -> None:
        """Keep the answers to `fee_questions`, and the proposer of the newest block seen."""
        if answers:
            self._tips_wei = fee_market.read_tips(answers[0])
            self._fees_until_s = monotonic() + fee_market.REMEMBERED_S
        if proposer not in self._proposers:
            self._proposers.append(proposer)

    def disguise(self, header: PinnedHeader, token: Address) -> Disguise:
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

    def reads(self, memory: Mapping[bytes, RpcAnswer] | None = None) -> BatchingNode:
        """Return a batching node, for steps that send batches of reads by themselves.

        `memory`: answers that are known already, by `memory_key`.
        """
        return BatchingNode(self.node, self.capabilities, memory=memory or {})
