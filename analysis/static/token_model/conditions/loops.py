"""Loops of a function: the cycles of its control flow graph."""

from collections.abc import Iterator

from analysis.static.evm.cfg import Branch, CfgNode
from analysis.static.evm.function_cfg import FunctionCfg


def loops(flow: FunctionCfg) -> Iterator[frozenset[CfgNode]]:
    """Yield the strongly connected components of two nodes or more (Kosaraju's algorithm)."""
    before: dict[CfgNode, list[CfgNode]] = {}
    for node in flow.last_first:
        for after in node.successors():
            before.setdefault(after, []).append(node)
    seen: set[CfgNode] = set()
    for start in reversed(flow.last_first):
        component, waiting = [], [start]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                component.append(node)
                waiting += before.get(node, ())
        if len(component) > 1 or (component and component[0] in component[0].successors()):
            yield frozenset(component)


def exits(flow: FunctionCfg) -> Iterator[Branch]:
    """Yield the branches of which one side leaves a loop, and the other one stays in it."""
    for loop in loops(flow):
        for node in sorted(loop, key=lambda each: each.number):
            branch = node.branch
            if branch is not None and (branch.if_true in loop) is not (branch.if_false in loop):
                yield branch
