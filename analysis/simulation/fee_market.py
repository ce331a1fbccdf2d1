"""Fee market: recent priority fees, and a probe of the base fee in simulations.

Fees are read in the first round trip and cached for a while. The base fee is probed along with the
first simulations, and the result is kept. Some nodes set a base fee of zero in simulated
blocks unless they also check balances and fees (anvil 1.7); a contract that compares the gas price
with the base fee could then detect the simulation. Sources: execution-apis, eth_feeHistory and
eth_simulateV1.
"""

import msgspec

from analysis.simulation.simulate_v1 import (
    READ_GAS,
    CallHandle,
    NotSimulated,
    SimCall,
    Simulation,
    SimulationResult,
)
from core.evm.primitives import Address
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

REMEMBERED_S = 60.0
"""Seconds after which fees are read again."""

_BLOCKS = 100
_PERCENTILES = (10, 90)
TYPICAL_TIPS_WEI = (10**8, 15 * 10**8)
"""Tips where the node does not report any: 0.1 to 1.5 gwei."""

_LEAST_SPREAD_WEI = 2

_BASE_FEE_CODE = "0x485f5260205ff3"
"""BASEFEE; MSTORE at 0; RETURN 32 bytes."""

_PROBE = Address("0x" + "b5" * 20)
_PROBER = Address("0x" + "b6" * 20)
_PURSE_WEI = 10**18


class _WireHistory(msgspec.Struct, rename="camel"):
    reward: tuple[tuple[str, ...], ...] = ()


def history_request() -> RpcRequest:
    """Return the request for priority fees of recent blocks."""
    return RpcRequest("eth_feeHistory", (hex(_BLOCKS), "latest", _PERCENTILES))


def with_probe(simulation: Simulation) -> tuple[Simulation, CallHandle]:
    """Return the simulation with a call that returns the base fee of the first block."""
    first, *later = simulation.blocks
    probe = SimCall(label="base fee", sender=_PROBER, to=_PROBE, data="0x", gas=READ_GAS)
    probed = msgspec.structs.replace(
        simulation,
        blocks=(msgspec.structs.replace(first, calls=(*first.calls, probe)), *later),
        code={**simulation.code, _PROBE: _BASE_FEE_CODE},
        purses={**simulation.purses, _PROBER: _PURSE_WEI},
    )
    return probed, CallHandle(0, len(first.calls))


def read_tips(answer: RpcAnswer) -> tuple[int, int]:
    """Return the 10th and 90th percentile in wei, the second above the first; typical values where
    the node does not report any."""
    if isinstance(answer, RpcFault):
        return TYPICAL_TIPS_WEI
    try:
        rewards = msgspec.json.decode(answer, type=_WireHistory).reward
        pairs = [tuple(int(each, 16) for each in row) for row in rewards]
    except (msgspec.DecodeError, ValueError):
        return TYPICAL_TIPS_WEI
    lows = sorted(pair[0] for pair in pairs if len(pair) == len(_PERCENTILES) and pair[1])
    highs = sorted(pair[1] for pair in pairs if len(pair) == len(_PERCENTILES) and pair[1])
    if not highs:
        return TYPICAL_TIPS_WEI
    low, high = lows[len(lows) // 2], highs[len(highs) // 2]
    return low, max(high, low + _LEAST_SPREAD_WEI)


def keeps_base_fee(
    simulation: Simulation, probe: CallHandle, result: SimulationResult | NotSimulated
) -> bool | None:
    """True if simulated blocks have the base fee they are given although nothing is validated.
    None: not determined. `probe`: of `with_probe`."""
    given = simulation.disguise.block_overrides(simulation.blocks[0].number).get("baseFeePerGas")
    if given is None or isinstance(result, NotSimulated) or not result[probe].ok:
        return None
    return result.word(probe) == int(given, 16)
