"""Checks of eth_simulateV1, of its substitute, and of the fees that simulations pay.

They share a simulation of a contract that stores a word and returns the fields of its block, built
with the types of the product.
"""

import msgspec

from analysis.simulation.backends import is_unknown_method
from analysis.simulation.disguise import Disguise
from analysis.simulation.fee_market import history_request
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    SimBlock,
    SimCall,
    Simulation,
    SimulationResult,
    read_simulation,
)
from analysis.simulation.trace_backend import is_proof, proof_requests
from assay.doctor.check import (
    Check,
    CheckFinding,
    CheckStatus,
    NotHeldError,
    ProbeAnswer,
    ProbeFailure,
    Steps,
    Subject,
    ask,
    describe_answer,
    is_result,
    ok,
    result_of,
)
from assay.doctor.tracers import drawn_address, drawn_word
from core.rpc.headers import Header
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

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
    """Requested number, time and base fee of a simulated block."""

    number: int
    time_s: int
    base_fee_wei: int | None


def build(subject: Subject, *, is_validated: bool) -> Simulation:
    """Build two blocks on the head with a call each."""
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
    """Build the request with transactions that pay less than the base fee."""
    request = simulation.request
    options = msgspec.json.decode(msgspec.json.encode(request.params[0]))
    for block in options["blockStateCalls"]:
        for call in block["calls"]:
            call |= {"maxFeePerGas": "0x1", "maxPriorityFeePerGas": "0x0"}
    return RpcRequest(request.method, (options, *request.params[1:]))


def is_unsupported(answer: ProbeAnswer) -> bool:
    """True if the node has no eth_simulateV1, so there are no simulations to check."""
    return not isinstance(answer, ProbeFailure) and is_unknown_method(answer)


def given_block(simulation: Simulation, at: int) -> GivenBlock:
    """Return the requested number, time and base fee of a block of the simulation."""
    block = simulation.blocks[at]
    fee = simulation.block_overrides(block).get("baseFeePerGas")
    return GivenBlock(
        number=block.number,
        time_s=block.time_s,
        base_fee_wei=None if fee is None else int(fee, 16),
    )


def read(simulation: Simulation, answer: ProbeAnswer) -> SimulationResult:
    """Decode the results. Raises NotHeldError if the node did not run it."""
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
    """Return the six words of a call. Raises NotHeldError for fewer."""
    data = result[handle].data
    if len(data) != 6 * 32:
        message = f"a simulated call returned {len(data)} bytes of 192: its code is another"
        raise NotHeldError(message)
    return [int.from_bytes(data[at : at + 32]) for at in range(0, len(data), 32)]


def stored_word(header: Header) -> int:
    """Return the word that the first block stores."""
    return int(drawn_word(header, "stored"), 16)


def _check_simulation(subject: Subject) -> Steps:
    simulation = build(subject, is_validated=False)
    answers = yield ask(simulation.request)
    result = read(simulation, answers[0])
    wanted = stored_word(subject.head)
    if words(result, WRITE)[STORED] != wanted:
        return [
            CheckFinding(status="failed", seen="what a transaction stored is not there after it")
        ]
    if words(result, READ)[STORED] != wanted:
        return [CheckFinding(status="failed", seen="state is not carried from block to block")]
    if len(result[WRITE].logs) != 1:
        seen = f"{len(result[WRITE].logs)} logs of a transaction that emits one"
        return [CheckFinding(status="failed", seen=seen)]
    return [ok("two blocks; state and logs as they should be")]


SIMULATION = Check(
    name="simulation",
    group="simulation",
    question="does eth_simulateV1 run several blocks",
    look=_check_simulation,
    severity="degraded",
    costs="trades are simulated by debug_traceCall, call by call (several times the calls), or "
    "where that is missing too by eth_call: sales later, of the owner and thefts stay unknown",
    mend="use an endpoint with eth_simulateV1 (a recent release of the client), or open the "
    "debug namespace",
)


def _check_simulated_blocks(subject: Subject) -> Steps:
    simulation = build(subject, is_validated=False)
    answers = yield ask(simulation.request)
    if is_unsupported(answers[0]):
        return [UNSUPPORTED]
    seen = words(read(simulation, answers[0]), READ)
    block = given_block(simulation, 1)
    fields = simulation.block_overrides(simulation.blocks[1])
    wanted = {
        "time": (seen[TIME], block.time_s),
        "proposer": (seen[COINBASE], int(fields["feeRecipient"], 16)),
        "randomness": (seen[RANDAO], int(fields["prevRandao"], 16)),
    }
    if subject.chain.clock == "own":  # else contracts see the number of another chain
        wanted["number"] = (seen[NUMBER], block.number)
    ignored = [name for name, (got, given) in wanted.items() if got != given]
    if not ignored:
        return [ok(f"{', '.join(wanted)} as given")]
    is_grave = not {"time", "number"}.isdisjoint(ignored)
    status: CheckStatus = "failed" if is_grave else "degraded"
    return [CheckFinding(status=status, seen=f"ignored: {', '.join(ignored)}")]


SIMULATED_BLOCKS = Check(
    name="simulated blocks",
    group="simulation",
    question="do simulated blocks have the number and time they are given",
    look=_check_simulated_blocks,
    severity="degraded",
    costs="with a wrong time or number, sales that fail later go unseen; by a strange proposer or "
    "randomness a contract can tell a simulation and behave well in it",
    mend="use another client, or a newer release of it",
)


def _check_simulated_base_fee(subject: Subject) -> Steps:
    given = given_block(build(subject, is_validated=False), 0).base_fee_wei
    if given is None:
        return [ok("the chain has no base fee")]
    fees = []
    for is_validated in (False, True):
        simulation = build(subject, is_validated=is_validated)
        answers = yield ask(simulation.request)
        if is_unsupported(answers[0]):
            return [UNSUPPORTED]
        fees.append(words(read(simulation, answers[0]), WRITE)[BASE_FEE])
        if fees[-1] == given:
            break
    if fees == [given]:
        return [ok("kept")]
    if fees[-1] == given:
        seen = f"{fees[0]} instead of {given} wei unless the node also validates balances"
        return [CheckFinding(status="degraded", seen=seen, costs=_ONLY_VALIDATED, mend=_NOTHING)]
    return [CheckFinding(status="failed", seen=f"{fees[0]} instead of {given} wei: ignored")]


_ONLY_VALIDATED = "nothing: trades are simulated with validation, which keeps the fee"
_NOTHING = "nothing to do"

SIMULATED_BASE_FEE = Check(
    name="simulated base fee",
    group="simulation",
    question="do simulated blocks keep the base fee they are given",
    look=_check_simulated_base_fee,
    severity="degraded",
    costs="a contract that compares gas price and base fee can tell a simulation from a trade, and "
    "behave well in it",
    mend="use another client, or a newer release of it",
)


def _check_validation(subject: Subject) -> Steps:
    if subject.head.base_fee_wei is None:
        return [ok("the chain has no base fee to be checked")]
    free, checked = (build(subject, is_validated=is_validated) for is_validated in (False, True))
    answers = yield ask(free.request, checked.request, with_low_fees(checked))
    if is_unsupported(answers[0]):
        return [UNSUPPORTED]
    read(free, answers[0])
    read(checked, answers[1])
    if not isinstance(answers[2], RpcFault):
        seen = "a transaction may pay less than the base fee although validation is on"
        return [CheckFinding(status="degraded", seen=seen)]
    return [ok("fees are checked where validation is on")]


SIMULATION_VALIDATION = Check(
    name="simulation validation",
    group="simulation",
    question="does validation check fees",
    look=_check_validation,
    severity="degraded",
    costs="trades that a real block would refuse count as possible; the base fee may be lost",
    mend="use another client, or a newer release of it",
)


def _check_call_traces(subject: Subject) -> Steps:
    simulation = build(subject, is_validated=False)
    answers = yield ask(*proof_requests(subject.head.ref), simulation.request)
    traces: list[RpcAnswer] = []
    for answer in answers.all[:-1]:
        if isinstance(answer, ProbeFailure):
            message = f"debug_traceCall: {answer.reason}"
            raise NotHeldError(message)
        traces.append(answer)
    if is_proof(traces):
        return [ok("overrides of state and block, both tracers")]
    seen = f"debug_traceCall: {describe_answer(traces[0])}"
    if is_result(traces[0]):
        seen += " without the overrides, or of another tracer"
    try:
        read(simulation, answers.all[-1])
    except NotHeldError:
        return [CheckFinding(status="degraded", seen=seen)]
    return [CheckFinding(status="skipped", seen=f"{seen}; not needed beside eth_simulateV1")]


CALL_TRACES = Check(
    name="call traces",
    group="simulation",
    question="can debug_traceCall stand in for eth_simulateV1",
    look=_check_call_traces,
    severity="degraded",
    costs="with neither method trades are simulated by eth_call alone: sales later, of the owner "
    "and thefts stay unknown, and some tokens' trades",
    mend="open the debug namespace of a node of your own, or use one with eth_simulateV1",
)


class _History(msgspec.Struct, rename="camel"):
    reward: list[list[str]] | None = None


def _check_fee_history(_: Subject) -> Steps:
    answers = yield ask(history_request())
    history = msgspec.json.decode(result_of(answers[0], what="eth_feeHistory"), type=_History)
    if not history.reward:
        return [CheckFinding(status="degraded", seen="eth_feeHistory: without rewards")]
    return [ok(f"fees of {len(history.reward)} blocks")]


FEE_HISTORY = Check(
    name="fee history",
    group="simulation",
    question="are recent priority fees known",
    look=_check_fee_history,
    severity="degraded",
    costs="simulated trades pay a typical tip instead of the chain's",
    mend="nothing urgent; use an endpoint with eth_feeHistory",
)
