"""The oracle for the data flow over edges: plain walks that avoid one edge each."""

import pytest

from analysis.static.analyse_code import build_model
from analysis.static.evm.cfg import CfgNode
from analysis.static.evm.function_cfg import Edge, FunctionCfg
from tests.harness.static.bomb_codes import bomb


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


def reached_without(flow: FunctionCfg, barred: set[Edge]) -> set[CfgNode]:
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
