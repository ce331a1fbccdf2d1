"""CFG of one function: reachability, control dependence, revert branches and no-op branches.

An unresolved end counts as one that can succeed, so success is over-approximated.
"""

from collections import defaultdict
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
"""Program counter and condition of a branch; several nodes may have the same."""

CfgEdge = tuple[CfgNode, CfgNode]


class BranchCondition(msgspec.Struct, frozen=True, kw_only=True):
    """A literal: a branch condition with the side taken."""

    pc: int
    condition: Expr
    holds: bool
    """True if the condition is non-zero."""

    def contradicts(self, other: "BranchCondition") -> bool:
        """True if both cannot hold."""
        return self.condition is other.condition and self.holds is not other.holds


class RevertBranch(msgspec.Struct, frozen=True, kw_only=True):
    """A branch of which one side surely reverts, or ends without effect, and the other need not."""

    entry: FunctionId
    test: BranchCondition
    """The literal that holds on the reverting side."""
    at: int | None = None
    """Program counter at which the reverting side starts. None: it does not revert."""
    is_silent: bool = False
    """True for a no-op branch: that side ends without a revert and without the effect."""


class FunctionCfg:
    """The nodes of one function, in order of discovery."""

    def __init__(self, graph: Cfg, entry: FunctionId) -> None:
        self.entry = entry
        self.roots = graph.roots.get(entry, [])
        """Entry nodes."""
        self.nodes = _reachable(self.roots, entry)
        self._before: defaultdict[CfgNode, list[CfgNode]] = defaultdict(list)
        for node in self.nodes:
            for after in node.successors():
                self._before[after].append(node)
        self.can_succeed = self.leading_to(node for node in self.nodes if node.end in _GOOD_ENDS)
        """Nodes from which the call can still succeed."""
        self.is_whole = all(node.end != UNRESOLVED for node in self.nodes)

    def reached(self, choose: Callable[[Branch], CfgNode | None]) -> set[CfgNode]:
        """Return the nodes that paths reach which can succeed and take the chosen side of branches.
        `choose` returns None for a branch of which both sides are taken."""
        found: set[CfgNode] = set()
        waiting = list(self.roots)
        while waiting:
            node = waiting.pop()
            if node in found or node not in self.can_succeed:
                continue
            found.add(node)
            chosen = None if node.branch is None else choose(node.branch)
            waiting.extend(node.successors() if chosen is None else (chosen,))
        return found

    def leading_to(
        self, targets: Iterable[CfgNode], barred: Container[CfgEdge] = ()
    ) -> set[CfgNode]:
        """Return the targets and all nodes that can reach one, not over the `barred` edges."""
        found = set(targets)
        waiting = list(found)
        before = self._before
        while waiting:
            after = waiting.pop()
            for node in before[after]:
                if node not in found and (node, after) not in barred:
                    found.add(node)
                    waiting.append(node)
        return found

    def is_barred(self, targets: Iterable[CfgNode], barred: Container[CfgEdge]) -> bool:
        """True if every path from the start to one of the targets takes a `barred` edge."""
        starts = set(self.roots)
        found = set(targets)
        waiting = list(found)
        while waiting and starts.isdisjoint(found):
            after = waiting.pop()
            fresh = [
                node
                for node in self._before[after]
                if node not in found and (node, after) not in barred
            ]
            found.update(fresh)
            waiting += fresh
        return starts.isdisjoint(found)

    def passed(
        self, marks_of: Mapping[CfgEdge, int], barred: Iterable[CfgEdge] = ()
    ) -> dict[CfgNode, int]:
        """Return for each node that can succeed the marks that every path from the start meets.

        Marks are bit sets, those of an edge are met when it is taken. No path takes a `barred`
        edge; -1, all marks, where none is left. Forward data flow, iterated to the fixpoint.
        """
        places = self._places
        marks_at = self._by_place({**marks_of, **dict.fromkeys(barred, -1)})
        starts = set(self.roots)
        passed = [0 if node in starts else -1 for node in places]
        is_settled = False
        while not is_settled:
            is_settled = True
            for at, following in reversed(self._edges_ahead):
                before, marks = passed[at], marks_at.get(at)
                for after in following:
                    known = passed[after]
                    met = known & (before if marks is None else before | marks.get(after, 0))
                    if met != known:
                        passed[after] = met
                        is_settled &= after < at
        return dict(zip(places, passed, strict=True))

    def _by_place(self, marks_of: Mapping[CfgEdge, int]) -> dict[int, dict[int, int]]:
        """Return the marks of edges by the places of both nodes in `last_first`."""
        places = self._places
        found: dict[int, dict[int, int]] = {}
        for (node, after), marks in marks_of.items():
            if after in places:
                found.setdefault(places[node], {})[places[after]] = marks
        return found

    def following(self, starts: Iterable[CfgNode]) -> set[CfgNode]:
        """Return all nodes of the function that are reachable from successors of these."""
        found: set[CfgNode] = set()
        waiting = [after for node in starts for after in node.successors()]
        while waiting:
            node = waiting.pop()
            if node not in found and node.entry == self.entry:
                found.add(node)
                waiting.extend(node.successors())
        return found

    def effects(self) -> tuple[tuple[CfgNode, Effect], ...]:
        """Return the effects on paths that can succeed, each with its node."""
        return self._deeds

    def operands(self) -> tuple[tuple[CfgNode, Effect], ...]:
        """Return the recorded operands on paths that can succeed, each with its node."""
        return self._operands

    def branches(self) -> tuple[Branch, ...]:
        """Return the branches on paths that can succeed."""
        return self._branches

    def decisions(self) -> tuple[tuple[CfgNode, Branch], ...]:
        """Return the branches of which both sides can succeed, each with its node."""
        return self._decisions

    def branching(self) -> tuple[tuple[CfgNode, Branch], ...]:
        """Return the nodes that end in a branch, on paths that can succeed."""
        return self._branching

    @cached_property
    def _branching(self) -> tuple[tuple[CfgNode, Branch], ...]:
        alive = (node for node in self.nodes if node in self.can_succeed)
        return tuple((node, node.branch) for node in alive if node.branch is not None)

    @cached_property
    def _deeds(self) -> tuple[tuple[CfgNode, Effect], ...]:
        alive = (node for node in self.nodes if node in self.can_succeed)
        return tuple((node, effect) for node in alive for effect in node.effects)

    @cached_property
    def _operands(self) -> tuple[tuple[CfgNode, Effect], ...]:
        alive = (node for node in self.nodes if node in self.can_succeed)
        return tuple((node, operand) for node in alive for operand in node.operands)

    @cached_property
    def _branches(self) -> tuple[Branch, ...]:
        return tuple(branch for _, branch in self._branching)

    @cached_property
    def _decisions(self) -> tuple[tuple[CfgNode, Branch], ...]:
        return tuple(
            (node, branch)
            for node, branch in self.branching()
            if branch.if_true in self.can_succeed and branch.if_false in self.can_succeed
        )

    def revert_branches(self) -> list[RevertBranch]:
        """Return the branches of which one side surely reverts."""
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
        """Nodes from which the call can still succeed without an overflow of a sum. Some contracts
        revert a transfer by subtracting more than a balance from it."""
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
        """Return the branches before any such store of which one side succeeds without one."""
        storing = self._nodes_with(is_store)
        found = self._one_sided(storing, storing)
        return [refusal for refusal, _ in found if refusal is not None]

    def void_moves(
        self, is_store: Callable[[Effect], bool], is_move: Callable[[Effect], bool]
    ) -> list[RevertBranch]:
        """Return the branches before any store of which one side has stores, but no move.

        A site counts only if that is so at all of its nodes: after a merge, both sides of one
        node may move.
        """
        found = list(self._one_sided(self._nodes_with(is_store), self._nodes_with(is_move)))
        open_sites = {site for refusal, site in found if refusal is None}
        return [refusal for refusal, site in found if refusal and site not in open_sites]

    def _nodes_with(self, is_store: Callable[[Effect], bool]) -> set[CfgNode]:
        return {node for node, effect in self.effects() if is_store(effect)}

    def _one_sided(
        self, storing: set[CfgNode], moving: set[CfgNode]
    ) -> Iterator[tuple[RevertBranch | None, Site]]:
        """Yield for each branch before any store that can lead to a move: the branch whose one side
        cannot, and its site. None in place of the branch: both sides can."""
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
        """Return the literals on which a site is control dependent.

        These are the decisions of which exactly one side can reach any branch of the site. A
        literal that several nodes decide on has the places of the first and of the last.
        """
        mark = self._marks.get(site, 0)
        found: dict[int, BranchCondition] = {}
        for group in self._deciding:
            for holds, marks in ((True, group.only_true), (False, group.only_false)):
                if marks & mark:
                    places = group.places(mark, holds=holds)
                    found.update(dict.fromkeys(places, group.literal(holds=holds)))
        return [found[place] for place in sorted(found)]

    @cached_property
    def _deciding(self) -> tuple["_Decision", ...]:
        """The decisions by program counter and condition.

        A site is compared once with each, however many nodes there are.
        """
        reached = self._sites_ahead
        groups: dict[Site, _Decision] = {}
        for place, (_, branch) in enumerate(self._decisions):
            one, other = reached[branch.if_true], reached[branch.if_false]
            if one != other:
                site = (branch.pc, branch.condition)
                groups.setdefault(site, _Decision(branch)).add(place, one & ~other, other & ~one)
        return tuple(groups.values())

    @cached_property
    def _marks(self) -> dict[Site, int]:
        """One bit for each site."""
        sites = dict.fromkeys((branch.pc, branch.condition) for branch in self.branches())
        return {site: 1 << number for number, site in enumerate(sites)}

    @cached_property
    def _sites_ahead(self) -> dict[CfgNode, int]:
        """Marks of the node's own site and of all reachable ones, by node that can succeed."""
        return self.ahead(
            {node: self._marks[branch.pc, branch.condition] for node, branch in self.branching()}
        )

    def ahead(
        self, marks_of: Mapping[CfgNode, int], hidden_by: Mapping[CfgNode, int] | None = None
    ) -> dict[CfgNode, int]:
        """Return the union of the marks of each node that can succeed and of all it can reach.

        Marks are bit sets. `hidden_by`: marks that are not seen through a node. Backward data flow,
        iterated to the fixpoint.
        """
        hidden = hidden_by or {}
        order, places = self.last_first, self._places
        ahead = [marks_of.get(node, 0) for node in order]
        elsewhere = {node: marks for node, marks in marks_of.items() if node not in places}
        for node, marks in elsewhere.items():
            for before in self._before.get(node, ()):
                if before in places:
                    ahead[places[before]] |= marks & ~hidden.get(before, 0)
        seen = [~hidden.get(node, 0) for node in order] if hidden else None
        is_settled = False
        while not is_settled:
            for at, following in self._edges_ahead:
                marks = 0
                for after in following:
                    marks |= ahead[after]
                ahead[at] |= marks if seen is None else marks & seen[at]
            is_settled = not any(
                ahead[after] & ~ahead[at] & (-1 if seen is None else seen[at])
                for at, after in self._edges_back
            )
        return {**elsewhere, **dict(zip(order, ahead, strict=True))}

    def choices(
        self, marks_of: Mapping[CfgNode, int], hidden_by: Mapping[CfgNode, int]
    ) -> Iterator[tuple[BranchCondition, int, int]]:
        """Yield the decisions as true literals, with the marks ahead of their true and false sides.

        See `ahead`.
        """
        ahead = self.ahead(marks_of, hidden_by)
        for _, branch in self._decisions:
            one, other = ahead[branch.if_true], ahead[branch.if_false]
            yield _literal(branch, holds=True), one, other

    def merges(self) -> Iterator[tuple[CfgNode, Expr, Value]]:
        """Yield the phis of this function, each with a node and its operand on the edge from
        there."""
        for node in self.nodes:
            if node in self.can_succeed and node.phi is not None:
                for phi, operand in node.phi.operands():
                    yield node, phi, operand

    @cached_property
    def _places(self) -> dict[CfgNode, int]:
        """Place of each node in `last_first`."""
        return {node: place for place, node in enumerate(self.last_first)}

    @cached_property
    def _edges_ahead(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Place of each node with the places of its successors, those that can succeed."""
        places = self._places
        found = (
            (at, tuple(places[after] for after in node.successors() if after in places))
            for node, at in places.items()
        )
        return tuple((at, after) for at, after in found if after)

    @cached_property
    def _edges_back(self) -> tuple[tuple[int, int], ...]:
        """The edges of loops: to a node that is not before the first one in `last_first`."""
        return tuple(
            (at, after) for at, following in self._edges_ahead for after in following if after >= at
        )

    @cached_property
    def last_first(self) -> tuple[CfgNode, ...]:
        """Nodes that can succeed in post-order: each after its successors, back edges aside."""
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


class _Decision:
    """All decisions of one function on one condition at one program counter."""

    __slots__ = ("_branch", "_nodes", "only_false", "only_true")

    def __init__(self, branch: Branch) -> None:
        self._branch = branch
        self._nodes: list[tuple[int, int, int]] = []
        self.only_true = 0
        """Marks of the sites that only the side where it holds can reach, at any of the nodes."""
        self.only_false = 0

    def add(self, place: int, only_true: int, only_false: int) -> None:
        """Add a node: its place in the order of decisions, and its marks."""
        self._nodes.append((place, only_true, only_false))
        self.only_true |= only_true
        self.only_false |= only_false

    def places(self, mark: int, *, holds: bool) -> tuple[int, int]:
        """Return the first and the last node at which only this side can reach the site."""
        index = 1 if holds else 2
        deciding = [node[0] for node in self._nodes if node[index] & mark]
        return deciding[0], deciding[-1]

    def literal(self, *, holds: bool) -> BranchCondition:
        return _literal(self._branch, holds=holds)


_GOOD_ENDS = frozenset({RETURNS, DESTRUCTS, UNRESOLVED})
_LARGEST_ADDED = 2**128
"""Summands below this are assumed not to overflow when added to a balance."""


def _is_surely_true(condition: Expr) -> bool:
    """True for an overflow check before a subtraction: `w < w + n`, or `w < w - (w + n)` of newer
    compilers.

    Both hold unless the sum overflows.
    """
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
