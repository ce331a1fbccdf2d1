"""Conditions of a branch and of a node, on any graph, match their definition: plain walks."""

from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analysis.static.analyse_code import build_model
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
from analysis.static.evm.function_cfg import CfgEdge, FunctionCfg, Site
from tests.harness.static.bomb_codes import bomb

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


@pytest.mark.parametrize("name", ["loops after each other", "deep loops", "diamonds"])
def test_what_every_path_passes_is_what_no_path_avoids(name: str) -> None:
    model = build_model(bomb(name, 1_500))
    flow = model.functions.cfg(0xA9059CBB)
    edges = [(node, after) for node, _ in flow.branching() for after in node.successors()]
    barred = edges[3]
    passed = flow.passed({edge: 1 << at for at, edge in enumerate(edges)}, {barred})
    for at, edge in enumerate(edges):
        reached = reached_without(flow, {edge, barred})
        assert reached == {node for node, bits in passed.items() if not bits >> at & 1}


def reached_without(flow: FunctionCfg, barred: set[CfgEdge]) -> set[CfgNode]:
    """Nodes that paths reach without these edges."""
    waiting = [node for node in flow.roots if node in flow.can_succeed]
    found = set(waiting)
    while waiting:
        node = waiting.pop()
        for after in node.successors():
            if after in flow.can_succeed and after not in found and (node, after) not in barred:
                found.add(after)
                waiting.append(after)
    return found
