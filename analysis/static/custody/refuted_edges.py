"""Edges of a function that no path takes: each path to them had the opposite outcome before."""

from collections.abc import Container, Iterable

from analysis.static.custody.custody_facts import NormalForm, normal
from analysis.static.evm.cfg import CfgNode
from analysis.static.evm.function_cfg import FunctionCfg

_Edge = tuple[CfgNode, CfgNode]


def refuted_edges(flow: FunctionCfg, roots: Iterable[CfgNode]) -> set[_Edge]:
    """Return the edges that no path takes: each path to them had the opposite answer before.

    Only for conditions whose words cannot change within one call.
    """
    sides: dict[tuple[NormalForm, bool], set[_Edge]] = {}
    for node, branch in flow.branching():
        if not branch.condition.changes:
            for holds, after in ((True, branch.if_true), (False, branch.if_false)):
                sides.setdefault(normal(branch.condition, holds=holds), set()).add((node, after))
    refuted: set[_Edge] = set()
    for (form, is_so), edges in sides.items():
        opposite = sides.get((form, not is_so), set())
        if len({node for node, _ in edges | opposite}) > 1:
            reached = free_from(flow, roots, (), opposite)
            refuted |= {(node, after) for node, after in edges if node not in reached}
    return refuted


def free_from(
    flow: FunctionCfg,
    starts: Iterable[CfgNode],
    barred: Container[CfgNode],
    barred_edges: Container[_Edge],
) -> set[CfgNode]:
    """Return the nodes reachable from the start nodes without passing a barred node or edge."""
    alive = flow.can_succeed
    found = {node for node in starts if node not in barred and node in alive}
    waiting = list(found)
    while waiting:
        node = waiting.pop()
        for after in node.successors():
            is_open = after in alive and after not in barred and (node, after) not in barred_edges
            if is_open and after not in found:
                found.add(after)
                waiting.append(after)
    return found
