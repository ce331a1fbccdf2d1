"""Conditions of a branch, on any graph, match their definition: checked over every path."""

from typing import Final

from hypothesis import example, given
from hypothesis import strategies as st

from analysis.static.evm.cfg import (
    ALWAYS_REVERTS,
    RETURNS,
    REVERTS,
    UNRESOLVED,
    Branch,
    Cfg,
    CfgNode,
)
from analysis.static.evm.expressions import ExprPool
from analysis.static.evm.function_cfg import FunctionCfg, Site

POOL: Final = ExprPool()
CONDITIONS: Final = tuple(POOL.intern("CALLDATALOAD", place) for place in range(3))
MOST_NODES: Final = 9

Shape = tuple[str, int, int, int]
"""End of a node, the numbers of two nodes behind it, and the number of its condition."""

SHAPES: Final = st.lists(
    st.tuples(
        st.sampled_from(
            (
                "branch",
                "branch",
                "branch",
                "following",
                RETURNS,
                REVERTS,
                ALWAYS_REVERTS,
                UNRESOLVED,
            )
        ),
        st.integers(0, MOST_NODES - 1),
        st.integers(0, MOST_NODES - 1),
        st.integers(0, len(CONDITIONS) - 1),
    ),
    min_size=1,
    max_size=MOST_NODES,
)


def graph_of(shapes: list[Shape]) -> tuple[Cfg, list[CfgNode]]:
    """Build a graph whose first node is its root; loops and unreachable nodes are allowed."""
    graph = Cfg()
    nodes = [graph.add(1, pc) for pc in range(len(shapes))]
    graph.roots[1] = nodes[:1]
    for node, (kind, one, other, number) in zip(nodes, shapes, strict=True):
        sides = nodes[one % len(nodes)], nodes[other % len(nodes)]
        if kind == "branch":
            node.branch = Branch(
                pc=number, condition=CONDITIONS[number], if_true=sides[0], if_false=sides[1]
            )
        elif kind == "following":
            node.following = sides[0]
        else:
            node.end = kind
    return graph, nodes


def ahead_of(start: CfgNode) -> set[CfgNode]:
    """The node and all that can follow it."""
    found: set[CfgNode] = set()
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.successors())
    return found


LOOP: Final[list[Shape]] = [
    ("branch", 1, 3, 0),
    ("branch", 0, 2, 1),
    ("branch", 3, 4, 2),
    (RETURNS, 0, 0, 0),
    (REVERTS, 0, 0, 0),
]
"""The first branch leads to the third only by way of a second that may lead back to it."""


@given(SHAPES)
@example(LOOP)
def test_a_condition_is_context_where_one_side_alone_leads_to_the_site(shapes: list[Shape]) -> None:
    graph, nodes = graph_of(shapes)
    flow = FunctionCfg(graph, 1)
    reached = ahead_of(nodes[0])
    alive = {
        node
        for node in reached
        if any(
            not each.successors() and each.end in (RETURNS, UNRESOLVED) for each in ahead_of(node)
        )
    }
    assert flow.can_succeed == alive
    for number, condition in enumerate(CONDITIONS):
        site: Site = (number, condition)
        here = {
            node for node in alive if node.branch is not None and node.branch.condition is condition
        }
        expected = set()
        for node in alive:
            branch = node.branch
            if branch is None or not {branch.if_true, branch.if_false} <= alive:
                continue
            hints = not here.isdisjoint(ahead_of(branch.if_true))
            if hints is here.isdisjoint(ahead_of(branch.if_false)):
                expected.add((branch.pc, branch.condition, hints))
        found = {(each.pc, each.condition, each.holds) for each in flow.control_dependencies(site)}
        assert found == expected
