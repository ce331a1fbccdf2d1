"""Edges of a function that no path takes: each path to them had the opposite outcome before."""

from analysis.static.custody.custody_facts import NormalForm, normal
from analysis.static.evm.function_cfg import CfgEdge, FunctionCfg


def refuted_edges(flow: FunctionCfg) -> set[CfgEdge]:
    """Return the edges that no path takes: each path to them had the opposite answer before.

    Only for conditions whose words cannot change within one call.
    """
    sides: dict[tuple[NormalForm, bool], set[CfgEdge]] = {}
    for node, branch in flow.branching():
        if not branch.condition.changes:
            for holds, after in ((True, branch.if_true), (False, branch.if_false)):
                sides.setdefault(normal(branch.condition, holds=holds), set()).add((node, after))
    bits: dict[tuple[NormalForm, bool], int] = {}
    marks: dict[CfgEdge, int] = {}
    for (form, is_so), edges in sides.items():
        opposite = sides.get((form, not is_so), set())
        if opposite and len({node for node, _ in edges | opposite}) > 1:
            bit = bits[form, is_so] = 1 << len(bits)
            for edge in edges:
                marks[edge] = marks.get(edge, 0) | bit
    if not bits:
        return set()
    passed = flow.passed(marks)
    return {
        edge
        for form, is_so in bits
        for edge in sides[form, is_so]
        if passed[edge[0]] & bits[form, not is_so]
    }
