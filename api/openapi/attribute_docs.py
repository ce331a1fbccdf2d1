"""The strings below the attributes of a class, which the language itself throws away.

They say what a key of an answer means; so does its description in the OpenAPI document, from here.
"""

import ast
import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

_NONE = re.compile(r"\bNone\b")
_SPACE = re.compile(r"\s+")


@cache
def attribute_docs(described: type) -> dict[str, str]:
    """Return the docstrings of a class's attributes, those of its bases too, as JSON has them:
    in one line, null for None.

    An attribute without one is left out.
    """
    docs: dict[str, str] = {}
    for base in reversed(described.__mro__):
        if base.__module__.startswith(("api.", "config.")):
            docs |= _own_docs(base)
    return docs


def one_line(text: str) -> str:
    """Return a text of the source as JSON's readers see it."""
    return _NONE.sub("null", _SPACE.sub(" ", text)).strip()


def _own_docs(described: type) -> dict[str, str]:
    body = _bodies(described.__module__)[described.__name__]
    pairs = pairwise(body)
    return {
        field.target.id: one_line(below.value.value)
        for field, below in pairs
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(below.value.value, str)
    }


@cache
def _bodies(module: str) -> Mapping[str, Sequence[ast.stmt]]:
    """Return the bodies of the classes of a module, by their names."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}
