"""Merged choices: the branches that choose among the operands of phis.

Where paths are merged, `flag = found ? 1 : 0` leaves a phi of constants that no longer shows what
was tested. The operand on each edge into the join point, and the edges that both sides of a branch
can reach, show it again.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from analysis.static.dataflow.dependencies import DependencyAnalysis
from analysis.static.evm.cfg import CfgNode
from analysis.static.evm.expressions import Expr, Value
from analysis.static.evm.function_cfg import BranchCondition, FunctionCfg

_MOST_PHIS: Final = 64
"""Most phis that are followed; the choices of others are not seen."""


def choosing_branches(
    flow: FunctionCfg,
    dependencies: DependencyAnalysis,
    words: Iterable[Value],
    *,
    is_strict: bool = False,
) -> Iterator[BranchCondition]:
    """Yield the branches of which the two sides next reach different operands of a phi in the
    words.

    `is_strict`: only where they have none in common, as of `rate = late ? 1 : 5`. A loop that ends
    once something is found always has one in common.
    """
    edges = _edges(flow, dependencies, words)
    bits = {
        (phi, meaning): 1 << number
        for number, (phi, meaning) in enumerate(
            dict.fromkeys((phi, each) for _, phi, meanings in edges for each in meanings)
        )
    }
    masks: dict[Expr, int] = {}
    for (phi, _), bit in bits.items():
        masks[phi] = masks.get(phi, 0) | bit
    marks: dict[CfgNode, int] = {}
    hidden: dict[CfgNode, int] = {}
    for node, phi, meanings in edges:
        hidden[node] = hidden.get(node, 0) | masks[phi]
        for each in meanings:
            # A meaning computed from another phi may be any of them.
            mark = masks[phi] if dependencies.is_merged(each) else bits[phi, each]
            marks[node] = marks.get(node, 0) | mark
    decided: dict[BranchCondition, bool] = {}
    for literal, true_side, false_side in flow.choices(marks, hidden):
        pairs = [(true_side & mask, false_side & mask) for mask in masks.values()]
        pairs = [(one, other) for one, other in pairs if one and other]
        if pairs and is_strict:
            decides = any(not one & other for one, other in pairs)
            decided[literal] = decided.get(literal, True) and decides
        elif pairs:
            decides = any(one != other for one, other in pairs)
            decided[literal] = decided.get(literal, False) or decides
    yield from (literal for literal, decides in decided.items() if decides)


def _edges(
    flow: FunctionCfg, dependencies: DependencyAnalysis, words: Iterable[Value]
) -> list[tuple[CfgNode, Expr, tuple[Value, ...]]]:
    """Return the edges into join points with a phi of the words, and what it may be there."""
    terms = (term for word in words for term in dependencies.subexpressions(word))
    phis = set(islice((term for term in terms if term.operation == "phi"), _MOST_PHIS))
    edges = [
        (node, phi, dependencies.phi_values(operand))
        for node, phi, operand in flow.merges()
        if phi in phis
    ]
    # An operand of which no value was found in the bound is left out with its edge.
    return [edge for edge in edges if edge[-1]]
