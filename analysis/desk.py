"""What every analysis of one chain works with."""

from collections.abc import Callable

from analysis.examiner import Examiner
from analysis.knowledge import Knowledge
from analysis.node import Node
from analysis.routers import RouterFacts
from config.chains import Chain
from config.primitives import Address
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
        examiner: Examiner | None = None,
    ) -> None:
        self.chain = chain
        self.node = node
        self.knowledge = knowledge
        self.settings = settings
        self.now_s = now_s
        self.examiner = Examiner() if examiner is None else examiner
        """Shared by all chains of a service; of its own where no tables stand behind it."""
        self.routers: dict[Address, RouterFacts] = {}
        """Routers that were seen to have code."""
        self.quote_slots: dict[Address, int] = {}
        """Index of the balance slot of each stable, once found."""
