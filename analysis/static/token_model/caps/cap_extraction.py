"""Cap extraction: the branches on paths to a cap's revert, as choices over storage and amount.

Input: the caps of `transfer_guards`. Output: `CapRules`, which `analysis.token.cap_evaluation`
evaluates with current storage. Conditions that storage, amount and clock do not decide may go
either way. No rule is given if a path was not followed to its end, a loop was cut, or it exceeds
400 choices, 2,000 steps or 32 slots.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from analysis.static.dataflow.predicates import ERC20_PARAMETERS, TO, ParameterRoles
from analysis.static.evm.cfg import Branch, CfgNode
from analysis.static.evm.expressions import FOLDED, Expr, Value
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.caps.cap_rules import (
    REFUSED,
    CapRule,
    CapRules,
    ComputationStep,
    TransferBranch,
)
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.transfer_guards import Cap, position_caps, trading_caps
from core.evm.primitives import to_hash32

_MOST_CHOICES: Final = 400
_MOST_STEPS: Final = 2_000
_MOST_SLOTS: Final = 32
_MOST_MEANINGS: Final = 8
_DEEPEST: Final = 40
_CLOCKS: Final = {"TIMESTAMP": "time", "NUMBER": "block"}


def cap_rules(code: ContractModel) -> CapRules:
    """Return the rules by which current storage decides if caps are in force."""
    return CapRules(
        trading=_rule(code, list(trading_caps(code))),
        position=_rule(code, list(position_caps(code))),
    )


def _rule(code: ContractModel, caps: list[Cap]) -> CapRule | None:
    if not caps or not code.functions.is_followed(MOVERS):
        return None
    writer = _Writer(code)
    for entry in MOVERS:
        mine = [cap for cap in caps if cap.guard.refusal.entry == entry]
        if mine:
            writer.add(code.functions.cfg(entry), mine)
    constants = [cap.constant for cap in caps if cap.constant is not None]
    rule = CapRule(
        steps=tuple(writer.steps),
        choices=tuple(writer.choices),
        starts=tuple(sorted(writer.starts)),
        constant=to_hash32(max(constants)) if constants else None,
    )
    is_small = len(rule.choices) <= _MOST_CHOICES and len(rule.steps) <= _MOST_STEPS
    is_readable = is_small and len(rule.slots) <= _MOST_SLOTS
    return rule if is_readable and rule.starts and not writer.is_cyclic else None


class _Writer:
    """Collects the choices and computations of one kind of cap."""

    def __init__(self, code: ContractModel) -> None:
        self._code = code
        self.steps: list[ComputationStep] = []
        self._numbers: dict[ComputationStep, int] = {}
        self.choices: list[TransferBranch] = []
        self._known: dict[TransferBranch, int] = {}
        self.starts: set[int] = set()
        self.is_cyclic = False
        """True if a path was cut where a loop closes, so that choices may be missing."""

    def add(self, flow: FunctionCfg, caps: Iterable[Cap]) -> None:
        """Add the paths of one function."""
        tests = (cap.guard.refusal.test for cap in caps)
        refusing = {(test.pc, test.condition): test.holds for test in tests}
        ends = [node for node in flow.nodes if node in flow.can_succeed and _key(node) in refusing]
        leading = flow.leading_to(ends) & flow.can_succeed
        words = _Words(self, self._code, ERC20_PARAMETERS[flow.entry or 0])
        ways = _Ways(flow, leading, refusing, words)
        order = ways.order()
        names: dict[CfgNode, frozenset[int]] = {}
        for node in order:
            names[node] = self._name(node, names, ways, refusing)
        self.starts |= {name for root in ways.roots() for name in names.get(root, ())}
        self.is_cyclic |= ways.is_cyclic

    def _name(
        self,
        node: CfgNode,
        names: dict[CfgNode, frozenset[int]],
        ways: "_Ways",
        refusing: dict[tuple[int, Expr], bool],
    ) -> frozenset[int]:
        """Return the choices that decide the outcome from this node on."""
        branch = node.branch
        if branch is None or not ways.is_choice(node):
            return frozenset(name for after in ways.after(node) for name in names.get(after, ()))
        sides = [names.get(side, frozenset()) for side in (branch.if_true, branch.if_false)]
        fails_when = refusing.get((branch.pc, branch.condition))
        if fails_when is not None:
            sides[0 if fails_when else 1] = frozenset({REFUSED})
        if sides[0] == sides[1]:
            return sides[0]
        choice = TransferBranch(
            condition=ways.condition(branch),
            if_true=tuple(sorted(sides[0])),
            if_false=tuple(sorted(sides[1])),
        )
        if choice not in self._known:
            self._known[choice] = len(self.choices)
            self.choices.append(choice)
        return frozenset({self._known[choice]})

    def step(self, operation: str, *arguments: int, word: int | None = None) -> int:
        """Return the index of a step; equal steps share one."""
        named = None if word is None else to_hash32(word)
        step = ComputationStep(operation, arguments, named)
        if step not in self._numbers:
            self._numbers[step] = len(self.steps)
            self.steps.append(step)
        return self._numbers[step]


def _key(node: CfgNode) -> tuple[int, Expr] | None:
    return None if node.branch is None else (node.branch.pc, node.branch.condition)


class _Ways:
    """The subgraph of a function's nodes that lead to a revert by the cap."""

    def __init__(
        self,
        flow: FunctionCfg,
        leading: set[CfgNode],
        refusing: dict[tuple[int, Expr], bool],
        words: "_Words",
    ) -> None:
        self._flow = flow
        self._leading = leading
        self._refusing = refusing
        self._words = words
        self.is_cyclic = False

    def roots(self) -> Iterator[CfgNode]:
        """Return the nodes without a predecessor in the subgraph: the function's entries."""
        before = {after for node in self._leading for after in node.successors()}
        starts = self._leading - before
        return (node for node in self._flow.nodes if node in starts)

    def after(self, node: CfgNode) -> list[CfgNode]:
        """Return the successors that lead to a revert by the cap."""
        return [each for each in node.successors() if each in self._leading]

    def is_choice(self, node: CfgNode) -> bool:
        """True if storage, amount and clock may decide the branch. A branch of which one side
        reverts for another reason is none: only transfers that pass it matter."""
        branch = node.branch
        if branch is None:
            return False
        if _key(node) in self._refusing:
            return True
        is_open = (
            branch.if_true in self._flow.can_succeed and branch.if_false in self._flow.can_succeed
        )
        return is_open and not self._words.is_unknown(branch.condition)

    def condition(self, branch: Branch) -> int:
        """Return the step that computes a branch's condition."""
        return self._words.step_of(branch.condition)

    def order(self) -> list[CfgNode]:
        """Return the nodes in post-order; a loop is cut where it closes, and `is_cyclic` set."""
        done: list[CfgNode] = []
        state: dict[CfgNode, bool] = {}
        for start in self.roots():
            waiting = [(start, iter(self.after(start)))]
            state[start] = False
            while waiting:
                node, rest = waiting[-1]
                for after in rest:
                    if after not in state:
                        state[after] = False
                        waiting.append((after, iter(self.after(after))))
                        break
                    self.is_cyclic |= not state[after]
                else:
                    state[node] = True
                    done.append(node)
                    waiting.pop()
        return done


class _Words:
    """Translator of one function's expressions into steps."""

    def __init__(self, writer: _Writer, code: ContractModel, parameters: ParameterRoles) -> None:
        self._writer = writer
        self._code = code
        self._voice = parameters
        self._known: dict[Value, int] = {}
        self._unknown = writer.step("unknown")

    def is_unknown(self, word: Value) -> bool:
        """True if storage, amount and clock do not decide the value."""
        return self.step_of(word) == self._unknown

    def step_of(self, word: Value, depth: int = _DEEPEST) -> int:
        """Return the step that computes a value."""
        if isinstance(word, int):
            return self._writer.step("number", word=word)
        if word not in self._known:
            self._known[word] = self._unknown  # a cyclic phi is unknown in itself
            self._known[word] = self._compute(word, depth - 1) if depth else self._unknown
        return self._known[word]

    def _compute(self, word: Expr, depth: int) -> int:
        meanings = self._code.dependencies.phi_values(word)
        if meanings != (word,):
            return self._either(meanings, depth)
        operation, arguments = word.operation, word.arguments
        if operation == "SLOAD":
            return self._stored(arguments[0])
        if operation in _CLOCKS:
            return self._writer.step(_CLOCKS[operation])
        if operation == "CALLDATALOAD" and arguments[0] == self._voice.amount:
            return self._writer.step("amount")
        if operation not in FOLDED:
            return self._unknown
        steps = [self.step_of(each, depth) for each in arguments]
        is_moot = all(step == self._unknown for step in steps)
        return self._unknown if is_moot else self._writer.step(operation, *steps)

    def _either(self, meanings: tuple[Value, ...], depth: int) -> int:
        if not meanings or len(meanings) > _MOST_MEANINGS:
            return self._unknown
        steps = sorted({self.step_of(each, depth) for each in meanings})
        if self._unknown in steps:
            return self._unknown
        return steps[0] if len(steps) == 1 else self._writer.step("phi", *steps)

    def _stored(self, slot: Value) -> int:
        places = self._code.layout.of(slot)
        if len(places) != 1:
            return self._unknown
        place = places[0]
        if isinstance(place.root, int) and not place.keys:
            return self._writer.step("slot", word=place.root)
        if place.root in self._code.storage.roles.balances and place.keys:
            # a new recipient's balance is zero, whatever unit the token counts in
            is_newcomers = self._code.storage.predicates.party(place.keys[0], self._voice) == TO
            return self._writer.step("number", word=0) if is_newcomers else self._unknown
        return self._unknown
