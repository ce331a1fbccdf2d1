"""What every analysis of one chain works with."""

from collections.abc import Callable, Mapping

from analysis.examiner import Examiner
from analysis.knowledge import Knowledge
from analysis.node import Node, RpcAnswer
from analysis.outside.connect import Outside
from analysis.powers import Powers
from analysis.rounds import PackingNode
from analysis.routers import RouterFacts
from config.chains import Chain
from config.primitives import Address, BlockRef
from config.settings import AnalysisSettings


class Desk:
    """One chain's facts, its node, its tables, and what was learnt of contracts that do not change
    from token to token."""

    def __init__(
        self,
        *,
        chain: Chain,
        node: Node,
        knowledge: Knowledge,
        settings: AnalysisSettings,
        now_s: Callable[[], float],
        newest: Callable[[], BlockRef | None] = lambda: None,
        outside: Outside | None = None,
        examiner: Examiner | None = None,
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
        self.powers = Powers()
        self.native_usd: float | None = None
        """What the native coin was worth at the last analysis. None: not known."""
        self.has_oracle = False
        """The oracle had a good price when it was last asked: pools need not be asked beside it."""
        self.examiner = Examiner() if examiner is None else examiner
        """Shared by all chains of a service; of its own where no tables stand behind it."""
        self.routers: dict[Address, RouterFacts] = {}
        """Routers that were seen to have code."""
        self.quote_slots: dict[Address, int] = {}
        """Index of the balance slot of each stable, once found."""

    def reads(self, memory: Mapping[bytes, RpcAnswer] | None = None) -> PackingNode:
        """The node, for steps that send batches of reads by themselves.

        `memory`: answers that are known already, by `memory_key`.
        """
        return PackingNode(self.node, self.powers, memory=memory or {})
