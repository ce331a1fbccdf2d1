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

_COMPARED: Final = {"LT": "<", "GT": ">", "SLT": "<", "SGT": ">", "EQ": "=="}
_DIFFERENCES: Final = {"SUB", "XOR"}
"""Operations that compilers test for zero in place of an equality."""

_NEGATED: Final = {"<": ">=", ">": "<=", "==": "!="}
_ASSOCIATIVE: Final = {"ADD": "+", "MUL": "*", "AND": "&", "OR": "|", "XOR": "^"}
_INFIX: Final = {**_COMPARED, **_ASSOCIATIVE, "SUB": "-", "DIV": "/", "MOD": "%"}
_CONSTANT_LAST: Final = {*_ASSOCIATIVE, "EQ"}
"""Operations whose operands may change places: compilers put the constant first."""

_ADDRESS_MASK: Final = (1 << 160) - 1


def render(word: Value) -> str:
    """Return the value as text of at most 160 characters."""
    return _cut(_render(word, _DEEPEST))


def render_condition(condition: Expr, *, holds: bool) -> str:
    """Return the condition as text, negated if it does not hold."""
    test: Value = condition
    while isinstance(test, Expr) and test.operation == "ISZERO":
        test, holds = test.arguments[0], not holds
    if isinstance(test, Expr) and test.operation in _DIFFERENCES:
        return _cut(_infix(test, "!=" if holds else "==", _DEEPEST))
    if isinstance(test, Expr) and test.operation in _COMPARED:
        operator = _COMPARED[test.operation]
        return _cut(_infix(test, operator if holds else _NEGATED[operator], _DEEPEST))
    return _cut(f"{_operand(test, 'EQ', _DEEPEST)} {'!=' if holds else '=='} 0")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _render(word: Value, depth: int) -> str:
    if isinstance(word, int):
        return str(word) if word < _SMALL else hex(word)
    if depth == 0:
        return "..."
    name = word.operation
    if name == "CALLDATALOAD" and isinstance(word.arguments[0], int):
        return _calldata(word.arguments[0])
    cast = _cast_to_address(word)
    if cast is not None:
        return f"address({_render(cast, depth - 1)})"
    if name in _INFIX:
        return _infix(word, _INFIX[name], depth)
    parts = [_render(each, depth - 1) for each in word.arguments]
    plain = _NAMED.get(name, name.lower())
    return f"{plain}({', '.join(parts)})" if parts and name not in _MERGED else plain


def _infix(word: Expr, operator: str, depth: int) -> str:
    left, right = word.arguments
    if word.operation in _CONSTANT_LAST and isinstance(left, int):
        left, right = right, left
    sides = [_operand(each, word.operation, depth - 1) for each in (left, right)]
    return f"{sides[0]} {operator} {sides[1]}"


def _operand(word: Value, outer: str, depth: int) -> str:
    """Return an operand of an infix operation, in parentheses where it would be misread."""
    text = _render(word, depth)
    if isinstance(word, int) or depth == 0 or word.operation not in _INFIX:
        return text
    is_clear = (
        _cast_to_address(word) is not None
        or (outer in _COMPARED and word.operation not in _COMPARED)
        or (outer in _ASSOCIATIVE and word.operation == outer)
    )
    return text if is_clear else f"({text})"


def _cast_to_address(word: Expr) -> Value | None:
    """Return the value of which the lower 20 bytes are taken. None: the word is no such value."""
    if word.operation != "AND" or _ADDRESS_MASK not in word.arguments:
        return None
    return next((each for each in word.arguments if each != _ADDRESS_MASK), None)


def _calldata(offset: int) -> str:
    if offset >= _HEAD and (offset - _HEAD) % _WORD == 0:
        return f"argument {(offset - _HEAD) // _WORD + 1}"
    return f"calldata[{offset}]"
