"""Analysis of one token, from address to report: stages in three round trips, on one block.

1. first round: admission, burned supply, owner getters, the code behind a proxy, prices, pools
   and their reserves, the balance slots
2. simulation: the transfer check and the buys; in parallel, where the code needs it, the
   owner-check slots, the contract's clock, the slots compared with it, and those that decide caps
                                                                 -> first report, trades pending
3. simulation: the sales, the theft checks on a holder's tokens, and the probes of functions that
   may create balances                                            -> settled report

More round trips are needed if the node packs no reads or simulates nothing, if a read needs much
gas, for an unusual proxy, for V4 pools known only by creation events, once for unconfigured fees,
where a probe is suspicious, for the owner's sale where sales are refused, and for a creation that
is not that of the first mint, or left more than its events explain. Liquidity holders take two for
a pair and three or four for positions, in parallel with the second and third; a pool of unknown age
takes one more.
"""

from collections.abc import AsyncIterator
from typing import Final

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.stages import Stage, running
from analysis.pipeline.token_scan import TokenScan
from core.evm.primitives import Address
from core.report.report import Report

_PLANNED: Final = ("plan",)
_READ: Final = ("conditions", "hooks", "owner slots", "clock", "caps", "parties", "issuer")

STAGES: Final[tuple[Stage[TokenScan], ...]] = (
    Stage(name="index", run=TokenScan.read_index),
    Stage(name="first mint", run=TokenScan.find_mint, needs=("index",), reads_node=True),
    Stage(name="first round", run=TokenScan.read_first_round, needs=("index",), reads_node=True),
    Stage(name="pools", run=TokenScan.value_pools, needs=("first round",)),
    Stage(name="code", run=TokenScan.analyse_code, needs=("first round",)),
    Stage(name="plan", run=TokenScan.plan, needs=("pools", "code")),
    Stage(name="buys", run=TokenScan.simulate_buys, needs=_PLANNED, reads_node=True),
    Stage(name="sources", run=TokenScan.find_sources, needs=_PLANNED),
    Stage(name="prices", run=TokenScan.request_prices, needs=_PLANNED),
    Stage(name="conditions", run=TokenScan.read_conditions, needs=_PLANNED, reads_node=True),
    Stage(name="hooks", run=TokenScan.read_hooks, needs=_PLANNED, reads_node=True),
    Stage(name="owner slots", run=TokenScan.read_owner_slots, needs=_PLANNED, reads_node=True),
    Stage(name="clock", run=TokenScan.read_clock, needs=_PLANNED, reads_node=True),
    Stage(name="caps", run=TokenScan.read_caps, needs=_PLANNED, reads_node=True),
    Stage(name="parties", run=TokenScan.read_parties, needs=_PLANNED, reads_node=True),
    Stage(name="issuer", run=TokenScan.read_issuer, needs=_PLANNED, reads_node=True),
    Stage(
        name="creating",
        run=TokenScan.read_creating,
        needs=("first mint", *_PLANNED),
        reads_node=True,
    ),
    Stage(name="first report", run=TokenScan.report_first, needs=_READ),
    Stage(
        name="power holders",
        run=TokenScan.read_power_holders,
        needs=("first report", "buys"),
        reads_node=True,
    ),
    Stage(
        name="sales",
        run=TokenScan.simulate_sales,
        needs=("first report", "buys"),
        reads_node=True,
    ),
    Stage(
        name="thefts",
        run=TokenScan.simulate_thefts,
        needs=("first report", "buys"),
        reads_node=True,
    ),
    Stage(
        name="probes",
        run=TokenScan.simulate_probes,
        needs=("first report", "buys"),
        reads_node=True,
    ),
    Stage(
        name="creation state",
        run=TokenScan.explain_creation,
        needs=("creating", "first report", "buys"),
        reads_node=True,
    ),
    Stage(
        name="liquidity",
        run=TokenScan.weigh_liquidity,
        needs=_PLANNED,
        reads_node=True,
    ),
    Stage(name="owner's sale", run=TokenScan.simulate_owner_sale, needs=("sales",)),
    Stage(
        name="settled report",
        run=TokenScan.report_settled,
        needs=(
            "sales",
            "owner's sale",
            "thefts",
            "probes",
            "creation state",
            "liquidity",
            "sources",
            "prices",
            "power holders",
        ),
    ),
)
"""Stages of an analysis; each starts once those that it needs are done."""


class ChainScanner:
    """Analyses tokens of one chain; implements `Scanner`."""

    def __init__(self, context: ChainContext) -> None:
        self._context = context
        self.chain_id = context.chain.id

    def scan(self, token: Address, *, redecompile: bool) -> AsyncIterator[Report]:
        """Run `scan`; `redecompile`: repeat the static analysis even if its results are stored."""
        return scan(self._context, token, redecompile=redecompile)


async def scan(
    context: ChainContext, token: Address, *, redecompile: bool = False
) -> AsyncIterator[Report]:
    """Yield the first report, whose trades are pending, and the settled one.

    Raises TokenRefusedError for a token that is not admitted, UpstreamError when the node fails.
    """
    state = TokenScan(context, token, redecompile=redecompile)
    async with running(STAGES, state, observe=context.observe_stage) as finished:
        await finished("first report")
        yield state.first_report
        await finished("settled report")
        yield state.settled_report
