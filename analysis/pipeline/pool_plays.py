"""Simulations of a pool beside one buy and one sale: sales in parts, later, and after a crowd.

Inputs: the trade setup and the results of the buys. Output: `PoolFindings`. A census of sales by
real holders in the deepest pool goes to the evidence only, because today's holders are no sample of
later buyers.
"""

from collections.abc import Collection, Sequence

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.scenarios import (
    crowd,
    crowd_sales,
    holder_sell_census,
    later_sales,
    partial_sales,
    permit2_sale,
)
from analysis.scenarios.buy import Bought
from analysis.scenarios.crowd import Crowd
from analysis.scenarios.crowd_sales import CrowdSales
from analysis.scenarios.later_sales import LaterSales
from analysis.scenarios.trade_setup import TradeSetup
from analysis.scenarios.transfer import Wallet
from analysis.simulation.block_schedule import SimulatedBlock, blocks_after, next_blocks
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.evidence import simulation_evidence
from analysis.simulation.simulate_v1 import NotSimulated, Outcome, Simulation, SimulationResult
from core.primitives import Address
from core.report import EvidenceRow

_SHOWN = ("sell at sale", ": buy", ": transfer")


class PoolPlays(msgspec.Struct, frozen=True, kw_only=True):
    """The simulations of one pool, ready to be sent. None: the state to simulate from is
    missing."""

    ground: TradeSetup
    bought: Bought
    held: Crowd | None
    parts: Simulation | None
    later: Simulation | None
    crowd: Simulation | None
    permit2: Simulation | None = None
    """Sales through Permit2."""
    census: Simulation | None = None
    sellers: tuple[Wallet, ...] = ()
    """Of the census."""
    later_blocks: tuple[SimulatedBlock, ...] = ()

    @property
    def turns(self) -> list[SimulationJob]:
        """The jobs, in the order in which `read_plays` expects their results."""
        plays = (self.parts, self.later, self.crowd, self.permit2, self.census)
        pool = self.ground.candidate.pool
        return [SimulationJob(play=play, pool=pool) for play in plays if play is not None]


class PoolFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Findings of the simulations. None: not simulated, or without a result."""

    sells_in_parts: bool | None = None
    later: LaterSales | None = None
    crowd: CrowdSales | None = None
    by_permit2: Outcome | None = None
    evidence: tuple[EvidenceRow, ...] = ()


def can_play(context: ChainContext) -> bool:
    """True if the node may simulate several senders in several blocks; one eth_call cannot."""
    return context.capabilities.simulation.is_worth_trying


def write_opening(
    context: ChainContext, look: FirstRound, ground: TradeSetup
) -> SimulationJob | None:
    """Return the crowd's buys, simulated beside the first buys. None: the node does not
    simulate."""
    if not can_play(context):
        return None
    play = crowd.write_opening(
        ground.with_coin(), _blocks(context, look, later_sales.WAITS_S)[: crowd.BLOCKS]
    )
    return SimulationJob(play=play, pool=ground.candidate.pool)


def write_plays(
    context: ChainContext,
    look: FirstRound,
    ground: TradeSetup,
    bought: Bought,
    held: Crowd | None,
    *,
    has_size_limit: bool,
) -> PoolPlays:
    """Return the simulations of one pool; `has_size_limit`: code may revert a sale for its size, so
    it is tried in parts."""
    if not can_play(context):
        return PoolPlays(
            ground=ground, bought=bought, held=held, parts=None, later=None, crowd=None
        )
    way = ground.permit2_way
    later_blocks = _blocks(context, look, later_sales.WAITS_S)
    crowd_blocks = _blocks(context, look, crowd_sales.WAITS_S)
    part_blocks = [
        (block.number, block.time_s) for block in _blocks(context, look, partial_sales.WAITS_S)
    ]
    return PoolPlays(
        ground=ground,
        bought=bought,
        held=held,
        parts=partial_sales.write_play(ground, bought, part_blocks) if has_size_limit else None,
        later=later_sales.write_play(ground.with_coin(), held, later_blocks) if held else None,
        crowd=crowd_sales.write_play(ground.with_coin(), held, crowd_blocks) if held else None,
        permit2=permit2_sale.write_play(ground, way, bought) if way else None,
        later_blocks=later_blocks,
    )


def with_census(
    context: ChainContext,
    look: FirstRound,
    plays: PoolPlays,
    *,
    wallets: Sequence[Wallet],
    special: Collection[Address],
) -> PoolPlays:
    """Add a census of sales by real holders. `special`: addresses that are no ordinary holders."""
    sellers = holder_sell_census.choose(wallets, frozenset(special))
    if not sellers or not can_play(context) or not plays.bought.passed:
        return plays
    blocks = next_blocks(
        look.pin,
        block_time_s=context.chain.block_time_s,
        now_s=int(context.now_s()),
        waits_s=[0] * len(sellers),
    )
    play = holder_sell_census.write_play(plays.ground, sellers, blocks)
    return msgspec.structs.replace(plays, census=play, sellers=sellers)


def read_plays(plays: PoolPlays, played: Sequence[SimulationResult | NotSimulated]) -> PoolFindings:
    """Judge the results; a simulation that was not run leaves None."""
    results = iter(played)
    in_parts, later, after, permitted, counted = (
        _played(next(results)) if play is not None else None
        for play in (plays.parts, plays.later, plays.crowd, plays.permit2, plays.census)
    )
    ground, held, key = plays.ground, plays.held, plays.ground.candidate.key
    rows: list[EvidenceRow] = []
    sells_in_parts = swept = crowded = by_permit2 = None
    if in_parts is not None and plays.parts is not None:
        sells_in_parts = partial_sales.read_play(ground, plays.bought, in_parts)
        rows.append(
            _row(
                f"sell_in_parts:{key}", partial_sales.VERSION, plays.parts, in_parts, sells_in_parts
            )
        )
    if later is not None and plays.later is not None and held is not None:
        swept = later_sales.read_play(ground.with_coin(), held, plays.later_blocks, later)
        rows.append(_row(f"sell_later:{key}", later_sales.VERSION, plays.later, later, swept))
    if after is not None and plays.crowd is not None and held is not None:
        crowded = crowd_sales.read_play(ground.with_coin(), held, after)
        rows.append(
            _row(f"sell_after_others:{key}", crowd_sales.VERSION, plays.crowd, after, crowded)
        )
    if permitted is not None and plays.permit2 is not None and ground.permit2_way is not None:
        by_permit2 = permit2_sale.read_play(ground, ground.permit2_way, plays.bought, permitted)
        rows.append(
            _row(
                f"sell_by_permit2:{key}",
                permit2_sale.VERSION,
                plays.permit2,
                permitted,
                by_permit2,
            )
        )
    if counted is not None and plays.census is not None:
        counts = holder_sell_census.read_play(ground, plays.sellers, counted)
        rows.append(_row("sell_census", holder_sell_census.VERSION, plays.census, counted, counts))
    return PoolFindings(
        sells_in_parts=sells_in_parts,
        later=swept,
        crowd=crowded,
        by_permit2=by_permit2,
        evidence=tuple(rows),
    )


def _played(result: SimulationResult | NotSimulated) -> SimulationResult | None:
    return result if isinstance(result, SimulationResult) else None


def _blocks(
    context: ChainContext, look: FirstRound, waits_s: Sequence[int]
) -> tuple[SimulatedBlock, ...]:
    return blocks_after(
        look.pin,
        block_time_s=context.chain.block_time_s,
        now_s=int(context.now_s()),
        waits_s=waits_s,
    )


def _row(
    key: str, version: int, play: Simulation, played: SimulationResult, outcome: object
) -> EvidenceRow:
    shown = [label for label in played.by_label if label.endswith(_SHOWN)]
    return simulation_evidence(key, version, play, played, outcome, shown=shown)
