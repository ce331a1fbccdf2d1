"""One function's part of the graph: what can still succeed, where it refuses, and on what terms."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cached_property

import msgspec

from analysis.static.evm.cfg import (
    DESTRUCTS,
    RETURNS,
    UNRESOLVED,
    Branch,
    Cfg,
    CfgNode,
    Effect,
    FunctionId,
)
from analysis.static.evm.expressions import Expr, Value

Site = tuple[int, Expr]
"""Where a branch is in the code, and what it asks there."""


class BranchCondition(msgspec.Struct, frozen=True, kw_only=True):
    """One condition on the way to a refusal."""

    pc: int
    condition: Expr
    holds: bool
    """Whether the condition is non-zero on that way."""

    def contradicts(self, other: "BranchCondition") -> bool:
        """Whether both cannot hold."""
        return self.condition is other.condition and self.holds is not other.holds


class RevertBranch(msgspec.Struct, frozen=True, kw_only=True):
    """A branch of which one side surely fails and the other need not."""

    entry: FunctionId
    test: BranchCondition
    """What holds when it fails."""
    at: int | None = None
    """Where the side that fails starts. None: it does not revert."""
    is_silent: bool = False
    """It does not revert: it ends without having moved anything."""


class FunctionCfg:
    """The nodes of one function, in the order found."""

    def __init__(self, graph: Cfg, entry: FunctionId) -> None:
        self.entry = entry
        self.nodes = _reachable(graph.roots.get(entry, ()), entry)
        self._before: dict[CfgNode, list[CfgNode]] = {}
        for node in self.nodes:
            for after in node.successors():
                self._before.setdefault(after, []).append(node)
        self.can_succeed = self.leading_to(node for node in self.nodes if node.end in _GOOD_ENDS)
        """Nodes from which the call can still succeed."""
        self.is_whole = all(node.end != UNRESOLVED for node in self.nodes)

    def leading_to(
        self, targets: Iterable[CfgNode], barred: Container[tuple[CfgNode, CfgNode]] = ()
    ) -> set[CfgNode]:
        """The targets, and every node from which one of them can be reached, not by barred ways."""
        found = set(targets)
        waiting = list(found)
        while waiting:
            after = waiting.pop()
            for node in self._before.get(after, ()):
                if node not in found and (node, after) not in barred:
                    found.add(node)
                    waiting.append(node)
        return found

    def following(self, starts: Iterable[CfgNode]) -> set[CfgNode]:
        """Every node that can come after one of these."""
        found: set[CfgNode] = set()
        waiting = [after for node in starts for after in node.successors()]
        while waiting:
            node = waiting.pop()
            if node not in found and node.entry == self.entry:
                found.add(node)
                waiting.extend(node.successors())
        return found

    def effects(self) -> tuple[tuple[CfgNode, Effect], ...]:
        """What is done on ways that can succeed."""
        return self._deeds

    def branches(self) -> tuple[Branch, ...]:
        """Branches on ways that can succeed."""
        return self._branches

    def decisions(self) -> tuple[tuple[CfgNode, Branch], ...]:
        """Branches of which both sides can succeed, and where they are."""
        return self._decisions

    def branching(self) -> Iterator[tuple[CfgNode, Branch]]:
        """Nodes that end in a branch, on ways that can succeed."""
        for node in self.nodes:
            if node in self.can_succeed and node.branch is not None:
                yield node, node.branch

    @cached_property
    def _deeds(self) -> tuple[tuple[CfgNode, Effect], ...]:
        alive = (node for node in self.nodes if node in self.can_succeed)
        return tuple((node, effect) for node in alive for effect in node.effects)

    @cached_property
    def _branches(self) -> tuple[Branch, ...]:
        alive = (node.branch for node in self.nodes if node in self.can_succeed)
        return tuple(branch for branch in alive if branch is not None)

    @cached_property
    def _decisions(self) -> tuple[tuple[CfgNode, Branch], ...]:
        return tuple(
            (node, branch)
            for node, branch in self.branching()
            if branch.if_true in self.can_succeed and branch.if_false in self.can_succeed
        )

    def revert_branches(self) -> list[RevertBranch]:
        """Branches of which one side surely reverts."""
        passing = self._passing
        found = {
            (branch.pc, branch.condition, branch.if_false in passing): branch
            for branch in self.branches()
            if (branch.if_true in passing) is not (branch.if_false in passing)
        }
        return [
            RevertBranch(
                entry=self.entry,
                test=_literal(branch, holds=holds),
                at=branch.if_true.pc if holds else branch.if_false.pc,
            )
            for (_, _, holds), branch in found.items()
        ]

    @cached_property
    def _passing(self) -> set[CfgNode]:
        """Nodes from which the call can still succeed, unless a sum runs over its end: to ask for
        more than somebody has is a way to refuse them."""
        barred = {
            (node, branch.if_false)
            for node, branch in self.branching()
            if _is_surely_true(branch.condition)
        }
        if not barred:
            return self.can_succeed
        return self.leading_to(
            (node for node in self.can_succeed if node.end in _GOOD_ENDS), barred
        )

    def no_op_branches(self, is_store: Callable[[Effect], bool]) -> list[RevertBranch]:
        """Branches before any such store of which one side ends well, but never makes one."""
        storing = self._nodes_with(is_store)
        found = self._one_sided(storing, storing)
        return [refusal for refusal, _ in found if refusal is not None]

    def void_moves(
        self, is_store: Callable[[Effect], bool], is_move: Callable[[Effect], bool]
    ) -> list[RevertBranch]:
        """Branches before any store of which one side stores what was there before, if anything.

        On every path: where paths have met, one of them may take both sides and move.
        """
        found = list(self._one_sided(self._nodes_with(is_store), self._nodes_with(is_move)))
        open_sites = {site for refusal, site in found if refusal is None}
        return [refusal for refusal, site in found if refusal and site not in open_sites]

    def _nodes_with(self, is_store: Callable[[Effect], bool]) -> set[CfgNode]:
        return {node for node, effect in self.effects() if is_store(effect)}

    def _one_sided(
        self, storing: set[CfgNode], moving: set[CfgNode]
    ) -> Iterator[tuple[RevertBranch | None, Site]]:
        """Branches before any store that can lead to a move: what holds where it cannot. None: both
        sides can."""
        can_move = self.leading_to(moving)
        stored = self.following(storing) | storing
        for node, branch in self._decisions:
            if node in stored or node not in can_move:
                continue
            site = (branch.pc, branch.condition)
            if (branch.if_true in can_move) is (branch.if_false in can_move):
                yield None, site
            else:
                test = _literal(branch, holds=branch.if_false in can_move)
                yield RevertBranch(entry=self.entry, test=test, is_silent=True), site

    def control_dependencies(self, site: Site) -> list[BranchCondition]:
        """The conditions that decide whether any branch of a site is met at all."""
        reached = self._sites_ahead
        mark = self._marks.get(site, 0)
        return [
            _literal(branch, holds=hints)
            for _, branch in self._decisions
            if (hints := bool(reached[branch.if_true] & mark))
            is not bool(reached[branch.if_false] & mark)
        ]

    @cached_property
    def _marks(self) -> dict[Site, int]:
        """A bit for each site."""
        sites = dict.fromkeys((branch.pc, branch.condition) for branch in self.branches())
        return {site: 1 << number for number, site in enumerate(sites)}

    @cached_property
    def _sites_ahead(self) -> dict[CfgNode, int]:
        """By node that can still succeed: the marks of its own site and all that can follow."""
        return self.ahead(
            {node: self._marks[branch.pc, branch.condition] for node, branch in self.branching()}
        )

    def ahead(self, marks_of: Mapping[CfgNode, int]) -> dict[CfgNode, int]:
        """By node that can still succeed: its own marks, bits, and those of all that can follow."""
        ahead = dict.fromkeys(self.can_succeed, 0)
        ahead.update(marks_of)
        is_settled = False
        while not is_settled:
            is_settled = True
            for node in self._last_first:
                before = marks = ahead[node]
                for after in node.successors():
                    marks |= ahead.get(after, 0)
                if marks != before:
                    ahead[node] = marks
                    is_settled = False
        return ahead

    @cached_property
    def _last_first(self) -> tuple[CfgNode, ...]:
        """Nodes that can still succeed, each behind all that follow it but where a loop closes."""
        found: dict[CfgNode, None] = {}
        seen: set[CfgNode] = set()
        waiting = [node for node in self.nodes if node in self.can_succeed]
        while waiting:
            node = waiting[-1]
            if node in seen:
                found.setdefault(waiting.pop())
            else:
                seen.add(node)
                ahead = (after for after in node.successors() if after in self.can_succeed)
                waiting.extend(after for after in ahead if after not in seen)
        return tuple(found)

    def leading_literals(self, here: Iterable[CfgNode]) -> list[BranchCondition]:
        """The conditions that decide whether any of these nodes is met."""
        leading = self.leading_to(here)
        return [
            _literal(branch, holds=hints)
            for _, branch in self._decisions
            if (hints := branch.if_true in leading) is not (branch.if_false in leading)
        ]


_GOOD_ENDS = frozenset({RETURNS, DESTRUCTS, UNRESOLVED})
_LARGEST_ADDED = 2**128
"""To a balance, for the sum not to run over its end."""


def _is_surely_true(condition: Expr) -> bool:
    """Whether a word is asked to be below a sum of itself and a number, as it is before the sum is
    taken from it; or below the difference, as newer compilers do."""
    match (condition.operation, condition.arguments):
        case ("LT", (word, above)) | ("GT", (above, word)):
            return _is_sum_of(above, word) or _runs_under(above, word)
    return False


def _is_sum_of(sum_: Value, word: Value) -> bool:
    match sum_:
        case Expr(operation="ADD", arguments=(int(more), same)):
            return same is word and 0 < more < _LARGEST_ADDED
    return False


def _runs_under(difference: Value, word: Value) -> bool:
    match difference:
        case Expr(operation="SUB", arguments=(same, taken)):
            return same is word and _is_sum_of(taken, word)
    return False


def _literal(branch: Branch, *, holds: bool) -> BranchCondition:
    return BranchCondition(pc=branch.pc, condition=branch.condition, holds=holds)


def _reachable(roots: Iterable[CfgNode], entry: FunctionId) -> dict[CfgNode, None]:
    found: dict[CfgNode, None] = {}
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node in found or node.entry != entry:
            continue
        found[node] = None
        waiting.extend(node.successors())
    return found
