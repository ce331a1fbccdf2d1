"""One more simulation where buyers' sales are refused: can the owner sell?"""

from collections.abc import Mapping, Sequence

from analysis.market.pool_ranking import TradeResult
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_simulations import can_simulate
from analysis.pipeline.trade_rounds import Buys
from analysis.scenarios.trade import owner_sale
from analysis.simulation.backends import perform
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.evidence import simulation_evidence
from analysis.simulation.simulate_v1 import Refused, SimulationResult
from config.burn import BURN_ADDRESSES
from core.errors import UpstreamError
from core.evm.primitives import Address
from core.report.report import EvidenceRow


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
