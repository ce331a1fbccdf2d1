"""Further simulations of a pool: sales in parts, later sales, and sales after a crowd.

Inputs: the trade setup and the results of the buys. Output: `PoolFindings`. A census of sales by
real holders in the deepest pool goes to the evidence only, because today's holders are no sample of
later buyers.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol, TypeVar

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_setups import counts_blocks
from analysis.scenarios.later import (
    crowd,
    crowd_sales,
    holder_sell_census,
    later_sales,
)
from analysis.scenarios.later.crowd import CrowdHoldings, CrowdOpening
from analysis.scenarios.later.crowd_sales import CrowdSales, CrowdSalesSimulation
from analysis.scenarios.later.holder_sell_census import CensusSimulation
from analysis.scenarios.later.later_sales import LaterSales, LaterSalesSimulation
from analysis.scenarios.trade import partial_sales, permit2_sale
from analysis.scenarios.trade.buy import Bought
from analysis.scenarios.trade.partial_sales import PartialSales
from analysis.scenarios.trade.permit2_sale import Permit2Sale
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.scenarios.trade.transfer import Wallet
from analysis.simulation.block_schedule import SimulatedBlock, blocks_after, next_blocks
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.evidence import simulation_evidence
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Outcome,
    Simulation,
    SimulationResult,
)
from core.evm.primitives import Address
from core.report.report import EvidenceRow


class _Written(Protocol):
    """A simulation with the handles of its calls."""

    @property
    def simulation(self) -> Simulation: ...

    @property
    def shown(self) -> tuple[CallHandle, ...]: ...


_W = TypeVar("_W", bound=_Written)
_Found = TypeVar("_Found")


class PoolSimulations(msgspec.Struct, frozen=True, kw_only=True):
    """Simulations of one pool. None: the state to simulate from is missing."""

    setup: TradeSetup
    bought: Bought
    parts: PartialSales | None = None
    later: LaterSalesSimulation | None = None
    crowd: CrowdSalesSimulation | None = None
    permit2: Permit2Sale | None = None
    census: CensusSimulation | None = None

    @property
    def jobs(self) -> list[SimulationJob]:
        """The jobs, in the order in which `read_simulations` expects their results."""
        written = (self.parts, self.later, self.crowd, self.permit2, self.census)
        pool = self.setup.candidate.pool
        return [
            SimulationJob(simulation=each.simulation, pool=pool)
            for each in written
            if each is not None
        ]


class PoolFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Findings of the simulations. None: not simulated, or without a result."""

    sells_in_parts: bool | None = None
    later: LaterSales | None = None
    crowd: CrowdSales | None = None
    by_permit2: Outcome | None = None
    evidence: tuple[EvidenceRow, ...] = ()


def can_simulate(context: ChainContext) -> bool:
    """True if the node may simulate several senders in several blocks; one eth_call cannot."""
    return context.capabilities.simulation.is_worth_trying


def write_opening(
    context: ChainContext, first_round: FirstRound, setup: TradeSetup
) -> CrowdOpening | None:
    """Return the crowd's buys, simulated with the first buys. None: the node does not simulate."""
    if not can_simulate(context):
        return None
    return crowd.write_opening(
        setup.with_coin(), _blocks(context, first_round, setup, later_sales.WAITS_S)[: crowd.BLOCKS]
    )


def write_simulations(
    context: ChainContext,
    first_round: FirstRound,
    setup: TradeSetup,
    bought: Bought,
    holdings: CrowdHoldings | None,
    *,
    has_size_limit: bool,
) -> PoolSimulations:
    """Return the simulations of one pool.

    `has_size_limit`: code may revert a sale for its size, so it is tried in parts.
    """
    written = PoolSimulations(setup=setup, bought=bought)
    if not can_simulate(context):
        return written
    route = setup.permit2_route
    later_blocks = _blocks(context, first_round, setup, later_sales.WAITS_S)
    crowd_blocks = _blocks(context, first_round, setup, crowd_sales.WAITS_S)
    part_blocks = [
        (block.number, block.time_s)
        for block in _blocks(context, first_round, setup, partial_sales.WAITS_S)
    ]
    in_coin = setup.with_coin()
    return msgspec.structs.replace(
        written,
        parts=partial_sales.write_simulation(setup, bought, part_blocks)
        if has_size_limit
        else None,
        later=later_sales.write_simulation(in_coin, holdings, later_blocks) if holdings else None,
        crowd=crowd_sales.write_simulation(in_coin, holdings, crowd_blocks) if holdings else None,
        permit2=permit2_sale.write_simulation(setup, route, bought) if route else None,
    )


def with_census(
    context: ChainContext,
    first_round: FirstRound,
    written: PoolSimulations,
    *,
    wallets: Sequence[Wallet],
    special: Collection[Address],
) -> PoolSimulations:
    """Add a census of sales by real holders. `special`: addresses that are no ordinary holders."""
    sellers = holder_sell_census.choose(wallets, frozenset(special))
    if not sellers or not can_simulate(context) or not written.bought.passed:
        return written
    blocks = next_blocks(
        first_round.pin,
        block_time_s=context.chain.block_time_s,
        now_s=int(context.now_s()),
        waits_s=[0] * len(sellers),
    )
    census = holder_sell_census.write_simulation(written.setup, sellers, blocks)
    return msgspec.structs.replace(written, census=census)


def read_simulations(
    written: PoolSimulations, results: Sequence[SimulationResult | NotSimulated]
) -> PoolFindings:
    """Read the results. A simulation that was not run leaves None."""
    key, read_next = written.setup.candidate.key, _ResultReader(results)
    in_parts = read_next(
        written.parts, partial_sales.read_result, f"sell_in_parts:{key}", partial_sales.VERSION
    )
    by_moment = read_next(
        written.later, later_sales.read_result, f"sell_later:{key}", later_sales.VERSION
    )
    after_others = read_next(
        written.crowd, crowd_sales.read_result, f"sell_after_others:{key}", crowd_sales.VERSION
    )
    by_permit2 = read_next(
        written.permit2, permit2_sale.read_result, f"sell_by_permit2:{key}", permit2_sale.VERSION
    )
    read_next(
        written.census, holder_sell_census.read_result, "sell_census", holder_sell_census.VERSION
    )
    return PoolFindings(
        sells_in_parts=in_parts,
        later=by_moment,
        crowd=after_others,
        by_permit2=by_permit2,
        evidence=tuple(read_next.evidence),
    )


class _ResultReader:
    """Reader of the results of written simulations, in the order of `jobs`."""

    def __init__(self, results: Sequence[SimulationResult | NotSimulated]) -> None:
        self._results = iter(results)
        self.evidence: list[EvidenceRow] = []

    def __call__(
        self,
        written: _W | None,
        read: Callable[[_W, SimulationResult], _Found],
        key: str,
        version: int,
    ) -> _Found | None:
        """Return the findings, and keep their evidence. None: not written, or not run."""
        if written is None:
            return None
        result = next(self._results)
        if isinstance(result, NotSimulated):
            return None
        found = read(written, result)
        self.evidence.append(
            simulation_evidence(
                key, version, written.simulation, result, found, shown=written.shown
            )
        )
        return found


def _blocks(
    context: ChainContext, first_round: FirstRound, setup: TradeSetup, waits_s: Sequence[int]
) -> tuple[SimulatedBlock, ...]:
    return blocks_after(
        first_round.pin,
        block_time_s=context.chain.block_time_s,
        now_s=int(context.now_s()),
        waits_s=waits_s,
        counts_blocks=counts_blocks(first_round, setup.candidate),
    )
