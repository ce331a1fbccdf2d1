"""What every analysis of one chain works with."""

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
from analysis.simulation.simulate_v1 import NotSimulated, Simulation, SimulationResult
from analysis.static.result_cache import StaticResultCache
from config.chains import Chain
from config.jsonrpc import RpcAnswer, RpcRequest
from config.primitives import Address, BlockRef
from config.settings import AnalysisSettings

_PROPOSERS_KEPT = 16


class ChainContext:
    """One chain's facts, its node, its tables, and what was learnt of contracts that do not change
    from token to token."""

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
        """`newest`: the head, where somebody follows the chain; None: it has to be asked for.
        `outside` None: nobody beside the chain is asked."""
        self.chain = chain
        self.node = node
        self.knowledge = knowledge
        self.settings = settings
        self.now_s = now_s
        self.newest = newest
        self.outside = outside
        self.capabilities = NodeCapabilities()
        self.native_usd: float | None = None
        """What the native coin was worth at the last analysis. None: not known."""
        self.has_oracle = False
        """The oracle had a good price when it was last asked: pools need not be asked beside it."""
        self.examiner = StaticResultCache() if examiner is None else examiner
        """Shared by all chains of a service; of its own where no tables stand behind it."""
        self.routers: dict[Address, RouterFacts] = {}
        """Routers that were seen to have code."""
        self.tiers: dict[Address, Tiers] = {}
        """By factory, what it said of its fees and tick spacings."""
        self.quote_slots: dict[Address, int] = {}
        """Index of the balance slot of each stable, once found."""

        self._secret = secrets.token_hex(16)
        self._tips_wei = fee_market.TYPICAL_TIPS_WEI
        self._keeps_base_fee: bool | None = None
        self._fees_until_s = 0.0
        self._proposers: deque[Address] = deque(maxlen=_PROPOSERS_KEPT)

    def fee_questions(self) -> tuple[RpcRequest, ...]:
        """Requests of the first round trip about fees. Empty: they are known from a short while
        ago."""
        return () if monotonic() < self._fees_until_s else (fee_market.history_request(),)

    def learn_fees(self, answers: Sequence[RpcAnswer], *, proposer: Address) -> None:
        """Remember what `fee_questions` brought, and who proposed the newest block seen."""
        if answers:
            self._tips_wei = fee_market.read_tips(answers[0])
            self._fees_until_s = monotonic() + fee_market.REMEMBERED_S
        if proposer not in self._proposers:
            self._proposers.append(proposer)

    def disguise(self, header: PinnedHeader, token: Address) -> Disguise:
        """What simulated blocks of one token's analysis look like."""
        return Disguise(
            secret=f"{self._secret}:{header.ref.hash}:{token}",
            base_fee_wei=header.base_fee_wei,
            proposers=tuple(self._proposers) or (header.proposer,),
            tips_wei=self._tips_wei,
            is_validated=self._keeps_base_fee is False,
        )

    @property
    def is_base_fee_open(self) -> bool:
        """Whether a play is to tell if simulations keep the base fee."""
        return self._keeps_base_fee is None

    def learn_base_fee(self, play: Simulation, played: SimulationResult | NotSimulated) -> None:
        """Remember what a play with `fee_market.with_probe` told, if it did."""
        kept = fee_market.keeps_base_fee(play, played)
        if kept is not None:
            self._keeps_base_fee = kept

    def checked(self, disguise: Disguise) -> Disguise:
        """The scenery, as what was learnt since it was drawn has it."""
        return msgspec.structs.replace(disguise, is_validated=self._keeps_base_fee is False)

    def reads(self, memory: Mapping[bytes, RpcAnswer] | None = None) -> BatchingNode:
        """The node, for steps that send batches of reads by themselves.

        `memory`: answers that are known already, by `memory_key`.
        """
        return BatchingNode(self.node, self.capabilities, memory=memory or {})
