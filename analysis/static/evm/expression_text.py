"""Rendering of symbolic expressions as readable text, for the evidence of findings."""

from typing import Final

from analysis.static.evm.expressions import Expr, Value

_DEEPEST: Final = 5
_LONGEST: Final = 160
_SMALL: Final = 10
_HEAD: Final = 4
_WORD: Final = 32

_NAMED: Final = {
    "ISZERO": "not",
    "SLOAD": "storage",
    "phi": "one of several",
    "top": "something",
}
_MERGED: Final = frozenset({"phi", "top"})

_INFIX: Final = {
    "ADD": "+",
    "SUB": "-",
    "MUL": "*",
    "DIV": "/",
    "MOD": "%",
    "LT": "<",
    "GT": ">",
    "SLT": "<",
    "SGT": ">",
    "EQ": "==",
    "AND": "&",
    "OR": "|",
    "XOR": "^",
}


def render(word: Value) -> str:
    """Return the value as text of at most 160 characters."""
    text = _render(word, _DEEPEST)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def render_condition(condition: Expr, *, holds: bool) -> str:
    """Return the condition as text, negated if it does not hold."""
    return render(condition) if holds else f"not ({render(condition)})"


def _render(word: Value, depth: int) -> str:
    if isinstance(word, int):
        return str(word) if word < _SMALL else hex(word)
    if depth == 0:
        return "..."
    name = word.operation
    if name == "CALLDATALOAD" and isinstance(word.arguments[0], int):
        return _calldata(word.arguments[0])
    parts = [_render(each, depth - 1) for each in word.arguments]
    if name in _INFIX and len(parts) == 2:  # noqa: PLR2004 - two operands
        return f"({parts[0]} {_INFIX[name]} {parts[1]})"
    plain = _NAMED.get(name, name.lower())
    return f"{plain}({', '.join(parts)})" if parts and name not in _MERGED else plain


def _calldata(offset: int) -> str:
    if offset >= _HEAD and (offset - _HEAD) % _WORD == 0:
        return f"argument {(offset - _HEAD) // _WORD + 1}"
    return f"calldata[{offset}]"
