"""Printers of one analysed code: its CFG, storage layout, guards and findings, as text or Graphviz.

Input is runtime code; output depends on nothing but it. What is printed is *inferred*: paths need
not be feasible, and functions that the budget cut are marked so.
"""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from analysis.static.analyse_code import analyse_code, build_model
from analysis.static.dataflow.storage_layout import VariableId
from analysis.static.evm.cfg import CfgNode, FunctionId
from analysis.static.evm.expression_text import render, render_condition
from analysis.static.evm.path_state import MOVERS, rank
from analysis.static.token_model.contract_model import ContractModel


def _text(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "null" if value is None else str(value).lower()


def _name(entry: FunctionId) -> str:
    return "dispatcher and fallback" if entry is None else f"0x{entry:08x}"


def _functions(code: ContractModel) -> Iterator[tuple[FunctionId, list[CfgNode]]]:
    """Yield each function with its nodes, depth first from its entry."""
    for entry in sorted(code.functions.entries, key=rank):
        # The CFG's own order takes the false side first; people read the true side first.
        found: dict[CfgNode, None] = {}
        waiting = list(reversed(code.functions.roots(entry)))
        while waiting:
            node = waiting.pop()
            if node not in found and node.entry == entry:
                found[node] = None
                waiting.extend(reversed(node.successors()))
        yield entry, list(found)


def _effects(node: CfgNode) -> Iterator[str]:
    for effect in node.effects:
        words = effect.words
        if effect.kind == "SSTORE":
            yield f"{effect.pc} SSTORE {render(words[0])} := {render(words[1])}"
        elif words:
            yield f"{effect.pc} {effect.kind} {', '.join(map(render, words))}"
        else:
            yield f"{effect.pc} {effect.kind}"


def _cfg_lines(code: ContractModel) -> Iterator[str]:
    for entry, nodes in _functions(code):
        is_cut = not code.functions.is_followed([entry]) if entry is not None else False
        yield f"function {_name(entry)}{' (cut by the budget)' if is_cut else ''}"
        for node in nodes:
            yield f"  n{node.number} @{node.pc}"
            yield from (f"    {line}" for line in _effects(node))
            branch = node.branch
            if branch is not None:
                yield f"    {branch.pc} if {render(branch.condition)}"
                yield f"      then n{branch.if_true.number} else n{branch.if_false.number}"
            elif node.following is not None:
                yield f"    goto n{node.following.number}"
            else:
                yield f"    {node.end}"


def _dot_lines(code: ContractModel) -> Iterator[str]:
    yield "digraph cfg {"
    yield "  node [shape=box, fontname=monospace];"
    for at, (entry, nodes) in enumerate(_functions(code)):
        yield f"  subgraph cluster_{at} {{"
        yield f'    label="{_name(entry)}";'
        for node in nodes:
            rows = [f"n{node.number} @{node.pc}", *_effects(node)]
            if node.branch is not None:
                rows.append(f"if {render(node.branch.condition)}")
            elif node.following is None:
                rows.append(str(node.end))
            label = "".join(f"{_escaped(row)}\\l" for row in rows)
            yield f'    n{node.number} [label="{label}"];'
        yield "  }"
        for node in nodes:
            if node.branch is not None:
                yield f'  n{node.number} -> n{node.branch.if_true.number} [label="true"];'
                yield f'  n{node.number} -> n{node.branch.if_false.number} [label="false"];'
            elif node.following is not None:
                yield f"  n{node.number} -> n{node.following.number};"
    yield "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _storage_lines(code: ContractModel) -> Iterator[str]:
    roles = code.storage.roles
    supply = {root for root, _ in roles.supply}
    writers: dict[VariableId, set[FunctionId]] = {}
    for write in code.writes.all:
        writers.setdefault(write.place.root, set()).add(write.entry)
    for root in sorted(writers, key=str):
        named = (("balances", roles.balances), ("allowances", roles.allowances), ("supply", supply))
        role = next((f" {name}" for name, roots in named if root in roots), "")
        by = ", ".join(_name(entry) for entry in sorted(writers[root], key=rank))
        yield f"{_variable(root)}{role}: written by {by}"


def _variable(root: VariableId) -> str:
    if isinstance(root, int):
        return f"slot {root:#x}"
    if isinstance(root, str):
        return root
    kind, *rest = root
    return f"{kind}({', '.join(_variable(each) for each in rest)})"


def _guard_lines(code: ContractModel) -> Iterator[str]:
    for entry in MOVERS:
        yield f"function {_name(entry)}"
        for guard in code.guards.of(entry):
            test = guard.test.literal
            yield f"  {guard.pc} reverts if {render_condition(test.condition, holds=test.holds)}"
            for predicate in guard.context:
                literal = predicate.literal
                condition = render_condition(literal.condition, holds=literal.holds)
                yield f"    met if {condition}"


def _finding_lines(runtime: bytes) -> Iterator[str]:
    for key, value in msgspec.structs.asdict(analyse_code(runtime).findings).items():
        yield f"{key}: {_value(value)}"


def _of_model(lines: Callable[[ContractModel], Iterator[str]]) -> Callable[[bytes], str]:
    return lambda runtime: _text(lines(build_model(runtime)))


PRINTERS: Final[dict[str, Callable[[bytes], str]]] = {
    "cfg": _of_model(_cfg_lines),
    "dot": _of_model(_dot_lines),
    "storage": _of_model(_storage_lines),
    "guards": _of_model(_guard_lines),
    "findings": lambda runtime: _text(_finding_lines(runtime)),
}
"""Printers by name.

`cfg`: each function's nodes, their effects and successors; `dot`: the same as a Graphviz digraph;
`storage`: variables that are written, with role and writers; `guards`: the reverts of the two
transfers, and the conditions that lead to them; `findings`: the static fields.
"""
