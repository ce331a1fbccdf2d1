"""Statements of the store, and the calls in the code that name them."""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from sql.accounts.ledger import LEDGER_QUERIES
from sql.engine.statements import QUERIES, list_statements
from sql.lake.final_batches import SERVING_QUERIES
from tests.house.sources import ROOT, parsed, python_files

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


def named_in(path: Path) -> Iterator[re.Pattern[str]]:
    """The statements a file names; a value in an f-string stands for one word or more."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.JoinedStr):
            parts = [
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[a-z_]+"
                for part in node.values
            ]
            yield re.compile("".join(parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.compile(re.escape(node.value))


READS = {"fetch", "fetch_one"}


def calls(
    *methods: str, names: Collection[str] = FOLDERS.keys()
) -> Iterator[tuple[str, ast.Call, Path, str]]:
    """Calls of these methods with a statement named in place: its name, the call, file and line."""
    for path in CODE:
        for node in ast.walk(parsed(path)):
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
