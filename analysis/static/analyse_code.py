"""Static analysis of one contract: runtime bytecode to findings, evidence and simulation hints.

Input: runtime bytecode, without any chain state. Output: a `CodeAnalysis`. Each finding is True
with evidence (selectors, program counters, slots), False only where every relevant path was
explored, and None otherwise. The budget bounds instructions and processor time.
"""

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import evmole
import msgspec

from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.custody.custody_report import StoredAddress, find_custody
from analysis.static.custody.simulation_hints import (
    UNKNOWN_LEADS,
    SimulationHints,
    find_simulation_hints,
)
from analysis.static.dataflow.delegate_targets import (
    Delegation,
    find_delegation,
    is_precompile,
)
from analysis.static.detectors.detector import DetectorAnswer, Evidence
from analysis.static.detectors.registry import DETECTORS
from analysis.static.evm.budget import Budget
from analysis.static.evm.cfg import selector_of
from analysis.static.evm.disassembly import Program, hash_of, split, strip_metadata
from analysis.static.evm.exploration import Exploration
from analysis.static.evm.expression_text import render_condition
from analysis.static.evm.expressions import address_in
from analysis.static.evm.path_explorer import explore
from analysis.static.evm.path_state import HOLDER_FUNCTIONS, MOVERS, Note, Notes
from analysis.static.powers.power_finder import find_powers
from analysis.static.powers.static_powers import StaticPowers
from analysis.static.shape.find_shape import find_shape
from analysis.static.token_model.caps.cap_extraction import cap_rules
from analysis.static.token_model.caps.cap_rules import CapRules
from analysis.static.token_model.clock.clock_limits import ClockLimit
from analysis.static.token_model.clock.deadlines import clock_limits
from analysis.static.token_model.conditions.condition_finder import find_trade_conditions
from analysis.static.token_model.conditions.trade_conditions import TradeConditions
from analysis.static.token_model.contract_model import ContractModel
from core.evm.code_shape import CodeShape
from core.evm.primitives import Hash32, Selector, to_hash32
from core.report.fields.field import list_keys
from core.report.fields.static_findings import StaticFindings
from core.report.report import EvidenceRow

_MOST_OWNER_SLOTS: Final = 16
_NUMBERS: Final = ("NUMBER", "BLOCKHASH", "CREATE", "CREATE2")
"""Instructions that read a block's number, or run code that is not analysed and may."""
_CALLS: Final = ("CALL", "STATICCALL", "DELEGATECALL", "CALLCODE")

_Functions = dict[int, str | None]
"""ABI types of each function's arguments, by selector, separated by commas. None: not known."""


class CodeAnalysis(msgspec.Struct, frozen=True, kw_only=True):
    """Result of the static analysis of one runtime bytecode."""

    code_hash: Hash32
    """keccak256 of the code without metadata."""
    size: int
    """Bytes without metadata."""
    selectors: tuple[Selector, ...]
    findings: StaticFindings
    answers_holders: bool
    """True if the code implements `transfer` and `balanceOf` itself. If not, and the fallback
    delegates, the token's logic is in the implementation."""
    owner_slots: tuple[Hash32, ...]
    """Storage slots whose low bits, or all, are compared with the caller. Empty for a proxy that
    does not implement `transfer` itself: its checks concern the proxy admin."""
    packed_owners: tuple[StoredAddress, ...] = ()
    """The same where the address is shifted within its slot."""
    clock_limits: tuple[ClockLimit, ...]
    """The values that block.number or block.timestamp are compared with."""
    cap_rules: CapRules
    """The caps that transfers enforce, to be evaluated with current storage."""
    delegation: Delegation
    hints: SimulationHints
    """Addresses, functions and arguments for the simulations to try."""
    conditions: TradeConditions = TradeConditions()
    """Conditions on which transfers (of a V4 hook, swaps) revert, or on which taxes or balances
    change."""
    powers: StaticPowers = StaticPowers()
    """Functions that change what holders have or can do, and the callers that they require."""
    shape: CodeShape | None = None
    """None: not known."""
    evidence: tuple[EvidenceRow, ...]
    counts_blocks: bool = True
    """False: neither the code nor a contract that it calls can read a block's number, but the code
    that a proxy delegates to."""
    is_timed_out: bool = False
    """True if the exploration ended by processor time, not by steps: a rerun may find more."""


def analyse_code(runtime: bytes, *, budget: Budget | None = None) -> CodeAnalysis:
    """Analyse the bytecode of one contract; of a proxy, analyse the implementation separately.

    Accepts any bytes. Findings that the budget cut off are None.
    """
    stripped = strip_metadata(runtime)
    with _without_garbage_collection():
        return _read(split(stripped), _functions_of(stripped), budget or Budget())


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector: scanning the many long-lived objects of one analysis takes a
    third of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _functions_of(stripped: bytes) -> _Functions:
    """Return the functions that evmole finds in the dispatcher. It is fast, and bounds itself."""
    listed = evmole.contract_info(stripped, selectors=True, arguments=True).functions or []
    return {int(found.selector, 16): found.arguments for found in listed}


def build_model(runtime: bytes, *, budget: Budget | None = None) -> ContractModel:
    """Explore the code and return its model, for printers and tools that look inside."""
    stripped = strip_metadata(runtime)
    functions = _functions_of(stripped)
    code, _ = _explore(split(stripped), functions, budget or Budget())
    return code


def _explore(
    program: Program, functions: _Functions, budget: Budget
) -> tuple[ContractModel, Exploration]:
    listed = set(functions)
    exploration = explore(program, selectors=listed, budget=budget)
    delegation = find_delegation(program, exploration.notes)
    selectors = listed | exploration.notes.selectors
    return ContractModel(program, exploration, selectors, delegation), exploration


def _read(program: Program, functions: _Functions, budget: Budget) -> CodeAnalysis:
    code, exploration = _explore(program, functions, budget)
    delegation = code.delegation
    answers = {detector.key: detector.look(code) for detector in DETECTORS}
    prover = CustodyProver(code)
    custody = find_custody(code, prover)
    conditions, owned = find_trade_conditions(code)
    is_front = delegation.is_proxy and not code.answers_holders
    owner_checks = [] if is_front else _owner_checks(exploration.notes)
    return CodeAnalysis(
        code_hash=hash_of(program.code),
        size=len(program.code),
        selectors=tuple(selector_of(selector) for selector in sorted(code.selectors)),
        findings=_findings(answers),
        answers_holders=code.answers_holders,
        owner_slots=_slots_of(note for note in owner_checks if not note.words[1])[
            :_MOST_OWNER_SLOTS
        ],
        packed_owners=_packed_owners(owner_checks)[:_MOST_OWNER_SLOTS],
        clock_limits=clock_limits(code),
        cap_rules=cap_rules(code),
        delegation=delegation,
        hints=find_simulation_hints(
            code,
            prover,
            custody,
            {entry: types for entry, types in functions.items() if types is not None},
        ),
        conditions=conditions,
        powers=find_powers(
            code,
            prover,
            owned=owned,
            custody=custody,
        ),
        shape=find_shape(code),
        evidence=_evidence(code, answers, owner_checks),
        counts_blocks=_counts_blocks(code),
        is_timed_out=exploration.notes.is_timed_out,
    )


def _counts_blocks(code: ContractModel) -> bool:
    """True if the code, or a contract that it calls, may read a block's number."""
    if code.has_any(_NUMBERS):
        return True
    if not code.has_any(_CALLS):
        return False
    calls = [effect for _, effect in code.calls() if effect.kind in _CALLS]
    followed = [
        is_precompile(address_in(code.dependencies.single_value(effect.words[0])))
        or (effect.kind == "DELEGATECALL" and code.delegation.is_proxy is True)
        for effect in calls
    ]
    return not (all(followed) and code.functions.is_followed())


def unanalysed(stripped: bytes) -> CodeAnalysis:
    """Return the result for code whose analysis did not end: nothing is known."""
    return CodeAnalysis(
        code_hash=hash_of(stripped),
        size=len(stripped),
        selectors=(),
        findings=StaticFindings(timebomb=None),
        answers_holders=False,
        owner_slots=(),
        clock_limits=(),
        cap_rules=CapRules(),
        delegation=Delegation(is_proxy=None),
        hints=UNKNOWN_LEADS,
        evidence=(),
        is_timed_out=True,
    )


def _findings(answers: dict[str, DetectorAnswer]) -> StaticFindings:
    values: dict[str, bool | tuple[Selector, ...] | None] = {
        key: answer.value for key, answer in answers.items()
    }
    for key in list_keys(StaticFindings):  # those are of the selectors in their evidence
        is_known = answers[key].value is not None
        values[key] = _selectors_of(answers[key].evidence) if is_known else None
    return msgspec.convert(values, StaticFindings)


def _owner_checks(notes: Notes) -> list[Note]:
    return [
        note
        for note in notes.caller_checks.values()
        if note.entry is not None and note.entry not in HOLDER_FUNCTIONS
    ]


def _slots_of(checks: Iterable[Note]) -> tuple[Hash32, ...]:
    slots = {slot for slot, _ in _owner_places(checks)}
    return tuple(to_hash32(slot) for slot in sorted(slots))


def _packed_owners(checks: Iterable[Note]) -> tuple[StoredAddress, ...]:
    return tuple(
        StoredAddress(slot=to_hash32(slot), shift=shift)
        for slot, shift in sorted(_owner_places(checks))
        if shift
    )


def _owner_places(checks: Iterable[Note]) -> set[tuple[int, int]]:
    """Return pairs of slot and shift in bits of the addresses that the caller is compared with."""
    return {
        (slot, shift)
        for slot, shift in (note.words for note in checks)
        if isinstance(slot, int) and isinstance(shift, int)
    }


def _selectors_of(found: Iterable[Note | Evidence]) -> tuple[Selector, ...]:
    return tuple(sorted({selector_of(each.entry) for each in found}))


# --- evidence ---------------------------------------------------------------------------------


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """Body of an EvidenceRow from static analysis. All *inferred*."""

    selectors: tuple[Selector, ...]
    """Functions that reach the program counters; 0x00000000 is the fallback."""
    pcs: tuple[int, ...]
    """Program counters in the runtime code."""
    slots: tuple[Hash32, ...] = ()
    """Storage slots concerned."""
    conditions: tuple[str, ...] = ()
    """On what transfers revert at those program counters."""
    reason: str | None = None
    """The reason if the finding is None."""


_MOST_CONDITIONS = 4


def _evidence(
    code: ContractModel, answers: dict[str, DetectorAnswer], owner_checks: list[Note]
) -> tuple[EvidenceRow, ...]:
    refusals = _refusals(code)
    proofs = {
        key: _proof(answer, refusals)
        for key, answer in answers.items()
        if answer.evidence or answer.reason
    }
    if owner_checks:
        proofs["ownership_renounced"] = Proof(
            selectors=_selectors_of(owner_checks),
            pcs=_pcs_of(owner_checks),
            slots=_slots_of(owner_checks),
        )
    return tuple(
        EvidenceRow(key=key, body=msgspec.json.encode(proof).decode())
        for key, proof in proofs.items()
    )


def _refusals(code: ContractModel) -> dict[int, str]:
    """Return on what transfers revert, by the program counters of the branches."""
    found: dict[int, str] = {}
    for entry in MOVERS:
        for guard in code.guards.of(entry):
            test = guard.test.literal
            text = f"reverts if {render_condition(test.condition, holds=test.holds)}"
            found.setdefault(guard.pc, text)
    return found


def _proof(answer: DetectorAnswer, refusals: Mapping[int, str]) -> Proof:
    refusal_texts = (refusals.get(each.pc) for each in answer.evidence)
    slots = {slot for each in answer.evidence for slot in each.slots}
    return Proof(
        selectors=_selectors_of(answer.evidence),
        pcs=_pcs_of(answer.evidence),
        slots=tuple(to_hash32(slot) for slot in sorted(slots)),
        conditions=tuple(dict.fromkeys(text for text in refusal_texts if text))[:_MOST_CONDITIONS],
        reason=answer.reason,
    )


def _pcs_of(found: Iterable[Note | Evidence]) -> tuple[int, ...]:
    return tuple(sorted({each.pc for each in found}))
