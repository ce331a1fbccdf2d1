"""The simulation that checks of eth_simulateV1 share: a contract that stores what it is given, and
tells what it sees of its block. Built by the product's own types, so it is what analyses send."""

import msgspec

from analysis.simulation.backends import is_unknown_method
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    SimBlock,
    SimCall,
    Simulation,
    SimulationResult,
    read_simulation,
)
from assay.doctor.check import (
    CheckFinding,
    NotHeldError,
    ProbeAnswer,
    ProbeFailure,
    Subject,
    describe_answer,
)
from assay.doctor.tracers import drawn_address, drawn_word
from core.rpc.headers import Header
from core.rpc.messages import RpcFault, RpcRequest

_WITNESS = (
    "0x3615601057600035600055"  # CALLDATASIZE? SSTORE(0, CALLDATALOAD(0))
    "60006000a0"  # LOG0
    "5b600054600052"  # memory 0: SLOAD(0)
    "43602052426040524860605241608052"  # NUMBER, TIMESTAMP, BASEFEE, COINBASE
    "4460a05260c06000f3"  # PREVRANDAO; RETURN six words
)
STORED, NUMBER, TIME, BASE_FEE, COINBASE, RANDAO = range(6)
"""Words that the contract returns."""

UNSUPPORTED = CheckFinding(status="skipped", seen="there is no eth_simulateV1: see simulation")

WRITE, READ = CallHandle(0, 0), CallHandle(1, 0)
"""The call that stores a word in the first block, and the one that reads it in the second."""

_GAS = 300_000
_PURSE_WEI = 10**18
_TIP_WEI = 10**8
_LEAST_FEE_WEI = 10**9


class GivenBlock(msgspec.Struct, frozen=True, kw_only=True):
    """What a simulated block is told to be."""

    number: int
    time_s: int
    base_fee_wei: int | None


def build(subject: Subject, *, is_validated: bool) -> Simulation:
    """Return two blocks on the head with a call each."""
    head = subject.head
    contract, sender = drawn_address(head, "witness"), drawn_address(head, "sender")
    step_s = max(1, round(subject.chain.block_time_s))
    fee = None if head.base_fee_wei is None else max(head.base_fee_wei, _LEAST_FEE_WEI) + 7
    return Simulation(
        pin=head.ref,
        disguise=Disguise(
            secret=head.ref.hash,
            base_fee_wei=fee,
            proposers=(drawn_address(head, "proposer"),),
            tips_wei=(_TIP_WEI, 2 * _TIP_WEI),
        ),
        blocks=tuple(
            SimBlock(
                number=head.number + at,
                time_s=head.ref.time_s + at * step_s,
                calls=(
                    SimCall(
                        label=label, sender=sender, to=contract, data=data, gas=_GAS, is_trade=True
                    ),
                ),
            )
            for at, label, data in (
                (1, "write", drawn_word(head, "stored")),
                (2, "read", "0x"),
            )
        ),
        purses={sender: _PURSE_WEI},
        storage={},
        code={contract: _WITNESS},
        is_validated=is_validated,
    )


def with_low_fees(simulation: Simulation) -> RpcRequest:
    """Return the request with transactions that pay less than the base fee."""
    request = simulation.request
    options = msgspec.json.decode(msgspec.json.encode(request.params[0]))
    for block in options["blockStateCalls"]:
        for call in block["calls"]:
            call |= {"maxFeePerGas": "0x1", "maxPriorityFeePerGas": "0x0"}
    return RpcRequest(request.method, (options, *request.params[1:]))


def is_unsupported(answer: ProbeAnswer) -> bool:
    """True if the node has no eth_simulateV1: what its simulations are like is no question then."""
    return not isinstance(answer, ProbeFailure) and is_unknown_method(answer)


def given_block(simulation: Simulation, at: int) -> GivenBlock:
    """Return the number, time and base fee that a block of the simulation is given."""
    block = simulation.blocks[at]
    fee = simulation.block_overrides(block).get("baseFeePerGas")
    return GivenBlock(
        number=block.number,
        time_s=block.time_s,
        base_fee_wei=None if fee is None else int(fee, 16),
    )


def read(simulation: Simulation, answer: ProbeAnswer) -> SimulationResult:
    """Return the results. Raises NotHeldError where the node did not run it."""
    if isinstance(answer, ProbeFailure | RpcFault):
        message = f"eth_simulateV1: {describe_answer(answer)}"
        raise NotHeldError(message)
    result = read_simulation(simulation, answer)
    if isinstance(result, NotSimulated):
        raise NotHeldError(result.reason)
    for handle in (WRITE, READ):
        if not result[handle].ok:
            message = f"a simulated call failed: {result[handle].message or 'without a reason'}"
            raise NotHeldError(message)
    return result


def words(result: SimulationResult, handle: CallHandle) -> list[int]:
    """Return the six words of a call. Raises NotHeldError for less."""
    data = result[handle].data
    if len(data) != 6 * 32:
        message = f"a simulated call returned {len(data)} bytes of 192: its code is another"
        raise NotHeldError(message)
    return [int.from_bytes(data[at : at + 32]) for at in range(0, len(data), 32)]


def stored_word(header: Header) -> int:
    """Return the word that the first block stores."""
    return int(drawn_word(header, "stored"), 16)
