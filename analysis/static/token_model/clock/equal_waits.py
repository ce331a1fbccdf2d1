"""Equal waits: a code whose transfers make everybody wait equally long after their own trade.

The wait is constant: a guard compares the time with a party's mark, and nothing else; transfers
store only the time in it. Transfers distinguish a party in no other way than by comparison with
addresses, which are returned: current storage shows if one of them is an insider. Any other test of
a party, or of the clock, and the code has no equal wait.
"""

from collections.abc import Iterator

from analysis.static.dataflow.dependencies import CALLERS, HASHES
from analysis.static.dataflow.predicates import PEOPLE, Predicate, Variable, parameters_of
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, address_in, lowest_bit
from analysis.static.evm.function_cfg import BranchCondition
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.atomic_comparisons import atomic_comparisons
from analysis.static.token_model.clock.cooldowns import cooldowns
from analysis.static.token_model.conditions.trade_conditions import EqualWait
from analysis.static.token_model.contract_model import ContractModel
from core.evm.primitives import Address, Hash32, low_address, to_hash32

_PARTIES = CALLERS | {"CALLDATALOAD"}
_EQUALITIES = frozenset({"EQ", "XOR", "SUB"})
_UNUSUAL = frozenset({"EXTCODESIZE", "EXTCODEHASH", "BALANCE", "NUMBER"})
"""Operations that test accounts; and block numbers, which lag behind the time in simulations."""


def find_equal_wait(code: ContractModel) -> EqualWait | None:
    """Return the addresses that transfers treat in another way. None: there is no wait, or it is
    not shown to be constant and equal."""
    found = list(cooldowns(code))
    marks = frozenset(variable for _, variables in found for variable in variables)
    if not found or not all(_is_clock(code, mark) for mark in marks):
        return None
    if not all(_is_plain(guard.test, marks) for guard, _ in found):
        return None
    parties: dict[Address | tuple[Hash32, int], None] = {}
    for entry in MOVERS:
        for branch in code.functions.cfg(entry).branches():
            literal = BranchCondition(pc=branch.pc, condition=branch.condition, holds=True)
            reading = code.storage.predicates.read(literal, entry)
            if not _is_usual(code, reading, marks):
                return None
            for named in _named(code, entry, literal):
                if named is None:
                    return None
                parties[named] = None
    return EqualWait(
        constants=tuple(each for each in parties if isinstance(each, str)),
        slots=tuple(each for each in parties if isinstance(each, tuple)),
    )


def _is_clock(code: ContractModel, mark: Variable) -> bool:
    """True if only transfers write the mark, and store nothing but the time and constants."""
    writes = list(code.writes.to(mark))
    return bool(writes) and all(
        write.entry in MOVERS
        and all(
            {atom.operation for atom in code.dependencies.sources(value)} in ({"TIMESTAMP"}, set())
            for value in code.dependencies.phi_values(write.value)
        )
        for write in writes
    )


def _is_plain(test: Predicate, marks: frozenset[Variable]) -> bool:
    """True if the guard depends on the clock and the marks of parties alone."""
    return (
        test.depends_on_time
        and not (test.globals or test.addresses or test.balances_of)
        and not (test.has_amount or test.has_answer or test.is_about_allowance)
        and {variable for variable, _ in test.lists} <= marks
    )


def _is_usual(code: ContractModel, reading: Predicate, marks: frozenset[Variable]) -> bool:
    """True if the branch tests no account's code or coins, and no list of parties but the marks.

    The time may be compared with the marks alone.
    """
    lists = {variable for variable, party in reading.lists if party in PEOPLE}
    if not lists <= marks:
        return False
    if reading.depends_on_time and not _is_plain(reading, marks):
        return False
    terms = tuple(code.dependencies.subexpressions(reading.literal.condition))
    return not any(term.operation in _UNUSUAL for term in terms)


def _named(
    code: ContractModel, entry: FunctionId, literal: BranchCondition
) -> Iterator[Address | tuple[Hash32, int] | None]:
    """Yield the addresses that the branch compares a party with: a constant, or slot and bit offset
    in storage. None: the party is tested in another form."""
    parameters = parameters_of(entry)

    def is_party(word: Value) -> bool:
        bare = address_in(code.dependencies.single_value(word))
        is_leaf = isinstance(bare, Expr) and bare.operation in _PARTIES
        return is_leaf and code.storage.predicates.party(bare, parameters) in PEOPLE

    for term, _ in atomic_comparisons(code, literal.condition, holds=True):
        if is_party(term):
            continue  # a test for the zero address
        sides = term.arguments if term.operation in _EQUALITIES else ()
        pairs = (sides, sides[::-1]) if sides else ()
        compared = [other for one, other in pairs if is_party(one)]
        if compared:
            for other in compared:
                yield from _address(code, other, is_party=is_party(other))
        elif any(is_party(each) for each in code.dependencies.sources(term)) or _is_hashed(
            code, term
        ):
            yield None


def _is_hashed(code: ContractModel, term: Expr) -> bool:
    """True if a hash itself is compared, and not only used to find a slot."""
    return any(atom.operation in HASHES for atom in code.dependencies.sources(term))


def _address(
    code: ContractModel, word: Value, *, is_party: bool
) -> Iterator[Address | tuple[Hash32, int] | None]:
    bare = address_in(code.dependencies.single_value(word))
    if is_party or (isinstance(bare, Expr) and bare.operation == "ADDRESS"):
        return
    if isinstance(bare, int):
        yield low_address(bare)
        return
    reads = list(code.dependencies.reads(word))
    slots = [place.slot for slot, _ in reads for place in code.layout.of(slot) if not place.keys]
    if len(reads) != 1 or len(slots) != 1 or slots[0] is None:
        yield None
        return
    yield to_hash32(slots[0]), lowest_bit(reads[0][1] or MASK)
