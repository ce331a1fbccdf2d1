"""Statements of the store, and the calls in the code that name them."""

import ast
import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from sql.accounts.ledger import LEDGER_QUERIES
from sql.engine.statements import QUERIES, list_statements
from sql.lake.final_batches import SERVING_QUERIES
from tests.house.sources import ROOT, nodes_of, python_files

PARAMETER = re.compile(r"(?<![\w$:])[$:]([a-z_]\w*)")


FOLDERS = {
    name: folder
    for folder in (QUERIES, LEDGER_QUERIES, SERVING_QUERIES)
    for name in list_statements(folder)
}


CODE = python_files("sql", "indexer", "analysis", "api", "assay")


def code_of(text: str) -> str:
    """A statement without its comments."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


def names_in(text: str) -> set[str]:
    """Named parameters of a statement."""
    return set(PARAMETER.findall(code_of(text)))


def is_named(name: str) -> bool:
    """True if the code names the statement."""
    texts, patterns = _named()
    return name in texts or any(pattern.fullmatch(name) for pattern in patterns)


@cache
def _named() -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
    """The texts of the code that may name a statement, and patterns of its f-strings: a value
    stands for one word or more."""
    texts: set[str] = set()
    patterns: list[re.Pattern[str]] = []
    for path in CODE:
        for node in nodes_of(path):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[a-z_]+"
                    for part in node.values
                ]
                patterns.append(re.compile("".join(parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
    return frozenset(texts), tuple(patterns)


READS = {"fetch", "fetch_one"}


def calls(
    *methods: str, names: Collection[str] = FOLDERS.keys()
) -> Iterator[tuple[str, ast.Call, Path, str]]:
    """Calls of these methods with a statement named in place: its name, the call, file and line."""
    for path in CODE:
        for node in nodes_of(path):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in methods
                and node.args
                and isinstance(node.args[0], ast.Constant)
                and node.args[0].value in names
            ):
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                yield str(node.args[0].value), node, path, where
