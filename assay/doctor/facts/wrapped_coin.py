"""Whether the wrapped native coin is what it is said to be: symbol, decimals, and that a deposit of
coins gives as many tokens."""

from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    SimBlock,
    SimCall,
    Simulation,
    read_simulation,
)
from assay.doctor.check import Check, CheckFinding, ProbeAnswer, Steps, Subject, ask, is_result, ok
from assay.doctor.configured_coin import wrong_decimals, wrong_symbol
from assay.doctor.contract_reads import ContractGetter, read_all
from assay.doctor.tracers import drawn_address
from core.evm.abi import call_data

_DEPOSITED_WEI = 123_456_789
_PURSE_WEI = 10**18


def _look(subject: Subject) -> Steps:
    anchor = subject.chain.wrapped_native
    symbol, decimals = (
        ContractGetter(anchor.address, "symbol()"),
        ContractGetter(anchor.address, "decimals()"),
    )
    read = yield from read_all(subject.head, (symbol, decimals))
    wrong = wrong_decimals(anchor, read[decimals])
    if wrong is not None:
        return [wrong]
    simulation = _deposit(subject)
    answers = yield ask(simulation.request)
    gained = _gained(simulation, answers[0])
    if gained is None:
        seen = "decimals as configured; no deposit could be simulated"
        return [CheckFinding(status="unknown", subject=anchor.symbol, seen=seen, costs="")]
    if gained != _DEPOSITED_WEI:
        seen = f"a deposit of {_DEPOSITED_WEI} wei gave {gained}"
        return [CheckFinding(status="failed", subject=anchor.symbol, seen=seen)]
    good = ok("symbol, decimals, and a deposit in a simulation", subject=anchor.symbol)
    return [wrong_symbol(anchor, read[symbol]) or good]


def _deposit(subject: Subject) -> Simulation:
    head, coin = subject.head, subject.chain.wrapped_native.address
    sender = drawn_address(head, "depositor")
    step_s = max(1, round(subject.chain.block_time_s))
    calls = (
        SimCall(
            label="deposit",
            sender=sender,
            to=coin,
            data=call_data("deposit()"),
            value=_DEPOSITED_WEI,
            is_trade=True,
        ),
        SimCall(
            label="balance", sender=sender, to=coin, data=call_data("balanceOf(address)", sender)
        ),
    )
    return Simulation(
        pin=head.ref,
        disguise=Disguise(
            secret=head.ref.hash, base_fee_wei=head.base_fee_wei, proposers=(head.proposer,)
        ),
        blocks=(SimBlock(number=head.number + 1, time_s=head.ref.time_s + step_s, calls=calls),),
        purses={sender: _PURSE_WEI},
        storage={},
    )


def _gained(simulation: Simulation, answer: ProbeAnswer) -> int | None:
    """Return the balance after the deposit; 0 where it failed. None: it was not simulated."""
    if not is_result(answer):
        return None
    result = read_simulation(simulation, answer)
    return None if isinstance(result, NotSimulated) else result.word(CallHandle(0, 1)) or 0


CHECK = Check(
    name="wrapped coin",
    group="facts",
    question="does the wrapped coin wrap coins",
    look=_look,
    costs="no pool against the native coin is valued or traded",
    mend="correct [wrapped_native] in the overlay, and report it",
)
