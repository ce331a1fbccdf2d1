"""Condition sites: the places of transfers where a condition may make them revert, tax or move
other balances, whatever the condition depends on.

Per function: guards and their control dependences; branches whose sides reach different balance
stores (reachability of stores as bit sets over the CFG, loops included); branches that decide on
stores to variables which the former read; and written amounts.
"""

from collections.abc import Callable, Collection, Container, Iterable, Iterator
from typing import Final

import msgspec

from analysis.static.dataflow.dependencies import is_own_address
from analysis.static.dataflow.predicates import Variable
from analysis.static.evm.cfg import RETURNS, CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import Expr, Value, subterms
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.evm.instruction_effects import RETURNED
from analysis.static.evm.operand_records import COPIED, INPUT, MEMORY, STORED
from analysis.static.evm.path_state import APPROVE, BALANCE_OF, MOVERS
from analysis.static.token_model.conditions.computations import is_own_purse
from analysis.static.token_model.conditions.loops import exits
from analysis.static.token_model.conditions.trade_conditions import ConditionEffect
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.operand_index import CallOperands, operand_index, read_call

HOOKS: Final = (
    *(0x575E24B4, 0xB47B2FB1),
    *(0xE592DC93, 0x6F6657CB),
    *(0x5177CB2F, 0x5E927CAA),
)
"""`beforeSwap` and `afterSwap` of hooks: of Uniswap V4, of PancakeSwap Infinity's CL pools and of
its Bin pools. Source: v4-core IHooks, infinity-core ICLHooks and IBinHooks."""


class ConditionSite(msgspec.Struct, frozen=True, kw_only=True):
    """A branch, a stored amount or an operand, with the effect its condition decides on."""

    entry: FunctionId
    pc: int
    condition: Value
    effect: ConditionEffect
    fails_when: bool | None = None
    """Truth of the condition on which it reverts. None: either side may go on."""
    is_returned: bool = False
    """True for a returned word, and for a branch that decides on one."""
    is_operand: bool = False
    """True where an instruction halts by its operand, without a branch."""
    is_loop: bool = False
    """True for a branch that leaves a loop or stays in it."""
    is_argument: bool = False
    """True for an argument of a call that has to succeed."""
    is_ignored: bool = False
    """True for the success of a call which the function does not examine."""


class SiteFinder:
    """Finder of the sites of one contract's functions."""

    def __init__(self, code: ContractModel) -> None:
        self._code = code

    def sites(self, flow: FunctionCfg) -> Iterator[ConditionSite]:
        guarding: set[tuple[int, Expr]] = set()
        for guard in self._code.guards.of(flow.entry):
            test = guard.refusal.test
            guarding.add((test.pc, test.condition))
            yield ConditionSite(
                entry=flow.entry,
                pc=test.pc,
                condition=test.condition,
                effect="refuses",
                fails_when=test.holds,
            )
            for reading in self._code.guards.context_of(flow.entry, test):
                literal = reading.literal
                yield ConditionSite(
                    entry=flow.entry, pc=literal.pc, condition=literal.condition, effect="leads"
                )
        # A compiler check can be made to revert on purpose: list what decides if it is reached.
        tests = (refusal.test for refusal in flow.revert_branches())
        refusing = {(test.pc, test.condition): test.holds for test in tests}
        yield from self._deciding(flow, self._refusing(flow, refusing), "leads")
        for (pc, condition), holds in refusing.items():
            asks_world = self._asks_world(condition)
            # A panic that is no guard, as of an empty list, may depend on a count as well.
            is_check = self._code.guards.is_check(pc, condition) or not (
                asks_world or (pc, condition) in guarding
            )
            if is_check or asks_world:
                # No guard if the operands are numbers: it seems to depend on nothing.
                yield ConditionSite(
                    entry=flow.entry,
                    pc=pc,
                    condition=condition,
                    effect="overruns" if is_check else "refuses",
                    fails_when=holds,
                )
        yield from _loop_ends(flow)
        if flow.entry in _TRADING:
            yield from self._called(flow, [condition for _, condition in refusing])
        is_wanted = self._books(flow.entry)
        yield from self._deciding(flow, self._marked(flow, is_wanted), "writes")
        # Simulations cannot set transient storage: the branches that decide on it are flipped.
        yield from self._deciding(flow, _transient_stores(flow), "leads")
        yield from self._computed(flow, is_wanted)
        if flow.entry in HOOKS or flow.entry == BALANCE_OF:
            yield from self._answered(flow)
        elif flow.entry is not None:
            yield from self._returned(flow.entry)
            yield from self._deciding(flow, _ends(flow), "leads")

    def _asks_world(self, condition: Value) -> bool:
        return any(
            term.operation in _ASKING for term in self._code.dependencies.subexpressions(condition)
        )

    @staticmethod
    def _refusing(flow: FunctionCfg, tests: Container[tuple[int, Expr]]) -> dict[CfgNode, int]:
        """Map each node with a revert branch to that branch's bit."""
        bits: dict[tuple[int, Expr], int] = {}
        marks: dict[CfgNode, int] = {}
        for node, branch in flow.branching():
            test = (branch.pc, branch.condition)
            if test in tests:
                marks[node] = bits.setdefault(test, 1 << len(bits))
        return marks

    def _books(self, entry: FunctionId) -> Callable[[Effect], bool]:
        """Return the test for the stores or effects that matter in this function."""
        if entry in MOVERS:
            return self._is_move
        return self._is_approval_store if entry == APPROVE else _is_any_effect

    def _is_move(self, effect: Effect) -> bool:
        """True for a balance store, and for a call that may act: on the pool that is traded in."""
        return effect.kind in _ACTING or self._code.storage.is_balance_store(effect)

    def _is_approval_store(self, effect: Effect) -> bool:
        """True for a store to an allowance or a balance: an approval may move tokens as well."""
        roles = self._code.storage.roles
        return effect.kind == "SSTORE" and any(
            place.root in roles.allowances or place.root in roles.balances
            for place in self._code.layout.of(effect.words[0])
        )

    def _answered(self, flow: FunctionCfg) -> Iterator[ConditionSite]:
        """Yield every branch of a hook or `balanceOf`, and every comparison in its return values.

        A hook acts through its return value, and through storage that it leaves for the other hook
        of the swap. Pools and routers read balances.
        """
        for _, branch in flow.decisions():
            yield ConditionSite(
                entry=flow.entry,
                pc=branch.pc,
                condition=branch.condition,
                effect="writes",
                is_returned=True,
            )
        for note in self._code.notes.returns.values():
            if note.entry == flow.entry:
                for word in note.words:
                    yield from self._comparisons(flow.entry, note.pc, word)

    def _returned(self, entry: FunctionId) -> Iterator[ConditionSite]:
        """Yield the returned words that may be false: pools and routers then revert."""
        for note in self._code.notes.returns.values():
            if note.entry != entry:
                continue
            for word in note.words[:1]:
                for meaning in self._code.dependencies.phi_values(word):
                    if not isinstance(meaning, int):
                        yield ConditionSite(
                            entry=entry,
                            pc=note.pc,
                            condition=meaning,
                            effect="refuses",
                            fails_when=False,
                            is_returned=True,
                        )

    def _comparisons(self, entry: FunctionId, pc: int, word: Value) -> Iterator[ConditionSite]:
        for term in self._code.dependencies.subexpressions(word):
            if term.operation in COMPARISONS:
                yield ConditionSite(entry=entry, pc=pc, condition=term, effect="writes")

    def _computed(
        self, flow: FunctionCfg, is_wanted: Callable[[Effect], bool]
    ) -> Iterator[ConditionSite]:
        """Yield comparisons whose results are part of a stored value; and, where a phi is stored,
        the branches whose merged sides both lead to the store."""
        merged: list[CfgNode] = []
        stores = [
            (node, effect)
            for node, effect in flow.effects()
            if effect.kind == "SSTORE" and is_wanted(effect)
        ]
        stores += [(node, operand) for node, operand in flow.operands() if operand.kind == STORED]
        for node, effect in stores:
            for word in effect.words[:2]:
                if _is_merged(word):
                    merged.append(node)
                yield from self._comparisons(flow.entry, effect.pc, word)
        yield from self._merging(flow, merged)

    @staticmethod
    def _merging(flow: FunctionCfg, merged: Collection[CfgNode]) -> Iterator[ConditionSite]:
        """Yield the branches whose sides both lead to one of these nodes."""
        if not merged:
            return
        leading = flow.leading_to(merged)
        for node, branch in flow.branching():
            both = branch.if_true in leading and branch.if_false in leading
            if node in leading and both:
                yield ConditionSite(
                    entry=flow.entry, pc=branch.pc, condition=branch.condition, effect="writes"
                )

    def _called(self, flow: FunctionCfg, refusing: Iterable[Expr]) -> Iterator[ConditionSite]:
        """Yield what calls to contracts depend on.

        Of a call that has to succeed: its arguments, comparisons in them, branches that decide on
        one, and coins beyond what the contract has. Of others: success, as they may use up the gas
        or act on the pool.
        """
        required = {
            term.arguments[0]
            for condition in refusing
            for term in self._code.dependencies.subexpressions(condition)
            if term.operation == "success"
        }
        merged: list[CfgNode] = []
        for node, operand in flow.operands():
            if operand.kind != INPUT or (call := read_call(operand)).is_to_precompile:
                continue
            if operand.pc in required:
                yield from self._passed(flow.entry, operand.pc, call)
                if any(map(_is_merged, call.content)):
                    merged.append(node)
            elif not _is_stipend(call.gas):
                success = self._code.pool.intern("success", operand.pc, call.target)
                yield ConditionSite(
                    entry=flow.entry,
                    pc=operand.pc,
                    condition=success,
                    effect="leads",
                    is_ignored=True,
                )
        yield from self._merging(flow, merged)

    def _passed(self, entry: FunctionId, pc: int, call: CallOperands) -> Iterator[ConditionSite]:
        """Yield what is passed to a contract that is called: coins and arguments."""
        if is_own_address(self._code.dependencies.single_value(call.target)):
            return
        yield from self._paid(entry, pc, call.value)
        for word in call.content:
            if not isinstance(word, Expr) or _is_deadline(word):
                continue
            amount = ConditionSite(entry=entry, pc=pc, condition=word, effect="value")
            for each in (amount, *self._comparisons(entry, pc, word)):
                yield msgspec.structs.replace(each, is_argument=True)

    def _paid(self, entry: FunctionId, pc: int, value: Value) -> Iterator[ConditionSite]:
        """Yield the test for coins that a call sends, unless they are part of what there is."""
        parts = self._code.dependencies.subexpressions(value)
        if value == 0 or any(map(is_own_purse, parts)):
            return
        purse = self._code.pool.intern("SELFBALANCE")
        condition = self._code.pool.build("LT", purse, value)
        if isinstance(condition, Expr):
            yield ConditionSite(
                entry=entry,
                pc=pc,
                condition=condition,
                effect="refuses",
                fails_when=True,
                is_argument=True,
            )

    def halting(self, flow: FunctionCfg) -> Iterator[ConditionSite]:
        """Yield the operands with which an instruction halts the call, as conditions: memory beyond
        what gas can pay for, and more return data than there is."""
        pool = self._code.pool
        for _, operand in flow.operands():
            if operand.kind == MEMORY and self._is_sized_by_answers(flow.entry, operand.words[0]):
                continue
            if operand.kind == MEMORY:
                condition = pool.build("GT", operand.words[0], _UNPAID_BYTES)
            elif operand.kind == COPIED:
                start, length, size = operand.words
                condition = pool.build("GT", pool.build("ADD", start, length), size)
            else:
                continue
            if isinstance(condition, Expr):
                yield ConditionSite(
                    entry=flow.entry,
                    pc=operand.pc,
                    condition=condition,
                    effect="refuses",
                    fails_when=True,
                    is_operand=True,
                )

    def _is_sized_by_answers(self, entry: FunctionId, word: Value) -> bool:
        """True if only the size of what contracts return moves the word: compilers copy it. False
        in a function that calls a precompile, as that returns what it was given."""
        seen: set[Value] = set()
        waiting = [word]
        while waiting:
            term = waiting.pop()
            if not isinstance(term, Expr) or term in seen or term.operation == "RETURNDATASIZE":
                continue
            seen.add(term)
            parts = (*term.arguments, *self._code.pool.phi_operands.get(term, ()))
            if term.operation not in _SIZING or not parts:
                return False
            waiting += parts
        return not operand_index(self._code).precompiles.get(entry)

    def marking(self, flow: FunctionCfg, variables: Iterable[Variable]) -> list[ConditionSite]:
        """Return the branches that decide whether one of these variables is written."""
        roots = {root for root, _ in variables}

        def is_mark(effect: Effect) -> bool:
            return effect.kind == "SSTORE" and any(
                place.root in roots for place in self._code.layout.of(effect.words[0])
            )

        return list(self._deciding(flow, self._marked(flow, is_mark), "marks"))

    @staticmethod
    def _marked(flow: FunctionCfg, is_wanted: Callable[[Effect], bool]) -> dict[CfgNode, int]:
        """Map each node to the bits of its distinct required effects."""
        bits: dict[tuple[object, ...], int] = {}
        marks: dict[CfgNode, int] = {}
        for node, effect in flow.effects():
            if is_wanted(effect):
                bit = bits.setdefault((effect.kind, effect.pc, *effect.words), 1 << len(bits))
                marks[node] = marks.get(node, 0) | bit
        return marks

    def _deciding(
        self, flow: FunctionCfg, marks: dict[CfgNode, int], effect: ConditionEffect
    ) -> Iterator[ConditionSite]:
        """Yield the branches whose two sides can reach different effects."""
        if not marks:
            return
        ahead = flow.ahead(marks)
        for _, branch in flow.decisions():
            if ahead[branch.if_true] == ahead[branch.if_false]:
                continue
            is_check = self._code.guards.is_check(branch.pc, branch.condition)
            yield ConditionSite(
                entry=flow.entry,
                pc=branch.pc,
                condition=branch.condition,
                effect="overruns" if effect == "leads" and is_check else effect,
            )

    def amounts(self, flow: FunctionCfg) -> Iterator[ConditionSite]:
        """Yield the amounts that a transfer stores, or that `balanceOf` returns."""
        if flow.entry == BALANCE_OF:
            for note in self._code.notes.returns.values():
                if note.entry == BALANCE_OF:
                    for word in note.words[:1]:
                        yield ConditionSite(
                            entry=BALANCE_OF, pc=note.pc, condition=word, effect="value"
                        )
        for _, effect in flow.effects():
            if self._code.storage.is_balance_store(effect):
                yield ConditionSite(
                    entry=flow.entry, pc=effect.pc, condition=effect.words[1], effect="value"
                )


_ASKING: Final = frozenset(
    {"TLOAD", "RETURNDATASIZE", "EXTCODESIZE", "EXTCODEHASH", "BALANCE", "BLOCKHASH"}
)
_SIZING: Final = frozenset({"phi", "top", "ADD", "SUB", "AND", "NOT", "MUL", "SHL", "LT", "GT"})
"""Operations with which compilers round and add up lengths."""

_UNPAID_BYTES: Final = 2**18
"""Memory that costs two million gas where it is logged: more than a sale is worth."""

_MERGED: Final = frozenset({"phi", "top"})
_TRADING: Final = (*MOVERS, APPROVE)
_ACTING: Final = frozenset({"CALL", "CALLCODE", "DELEGATECALL"})
_STIPEND: Final = 2_300
"""Gas with which a callee can do nothing but log."""
COMPARISONS: Final = frozenset({"LT", "GT", "SLT", "SGT", "EQ", "ISZERO"})


def _is_stipend(gas: Value) -> bool:
    return isinstance(gas, int) and gas <= _STIPEND


def _is_merged(word: Value) -> bool:
    return any(term.operation in _MERGED for term in subterms(word))


def _is_deadline(word: Expr) -> bool:
    """True for the time of the block, or a constant later: no swap is late for it."""
    match word:
        case Expr(operation="ADD", arguments=(int(), Expr(operation="TIMESTAMP"))):
            return True
    return word.operation == "TIMESTAMP"


def _is_any_effect(effect: Effect) -> bool:
    return effect.kind != "LOG"


def _loop_ends(flow: FunctionCfg) -> Iterator[ConditionSite]:
    """Yield the ends of loops: one that anybody may lengthen takes more gas than there is."""
    for branch in exits(flow):
        yield ConditionSite(
            entry=flow.entry,
            pc=branch.pc,
            condition=branch.condition,
            effect="leads",
            is_loop=True,
        )


def _ends(flow: FunctionCfg) -> dict[CfgNode, int]:
    """Map each end to a bit of what it returns. No ends if all return the same."""
    returned = {
        node: operand.words[:1] for node, operand in flow.operands() if operand.kind == RETURNED
    }
    ends = {node: returned.get(node) for node in flow.can_succeed if node.end == RETURNS}
    bits = {words: 1 << number for number, words in enumerate(dict.fromkeys(ends.values()))}
    return {node: bits[words] for node, words in ends.items()} if len(bits) > 1 else {}


def _transient_stores(flow: FunctionCfg) -> dict[CfgNode, int]:
    """Map each node to the bits of its distinct transient stores."""
    bits: dict[Effect, int] = {}
    marks: dict[CfgNode, int] = {}
    for node, operand in flow.operands():
        if operand.kind == STORED:
            marks[node] = marks.get(node, 0) | bits.setdefault(operand, 1 << len(bits))
    return marks
