"""Rules for prose and names, and the places that break them.

Prints the places below a path: python -m tests.house.prose analysis/static [rule]
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from tests.house.sources import ROOT, nodes_of, python_files

_OPENING: Final = re.compile(
    r"(What|Whatever|Who|Whom|Whose|Whoever|Whether|Where|When|Which|How|Of|By|That)\b"
)
_FUSED_WHO: Final = re.compile(
    r"(^|[,:;.(]\s*|\b(by|of|for|to|from|with|than|and|or|but|is|are|knows?|shows?|find|see)\s+)who\b"
    r"|\bwho(ever|m)\b",
    re.IGNORECASE,
)
_HUMAN_VERB: Final = re.compile(
    r"\b(says?|said|saying|tells?|told|telling|asks?|asked|asking|believes?|believed|wants?|wanted)\b",
    re.IGNORECASE,
)
_ODD_WORD: Final = re.compile(
    r"\b(anew|beside|meanwhile|somebody|under way|for want of|otherwise than|so many|of ours"
    r"|of (its|their|his|our|her) own)\b",
    re.IGNORECASE,
)
_OLD_NAMES: Final = frozenset({"shelf", "books", "door", "asked", "told", "held", "examiner"})
_MOST_WORDS: Final = 20

RULES: Final = {
    "opening": "A docstring begins with a noun phrase or a verb, not with What, Whether or Of.",
    "who": "`who` has an antecedent: name the role (caller, follower, holder).",
    "verb": "Machines return, publish, reject, accept; they do not say, tell, ask or want.",
    "word": "No archaic or translated words: anew, beside, meanwhile, somebody, of its own.",
    "length": "The first sentence of a docstring has at most 20 words.",
    "name": "A variable carries the name of its type: no shelf, books, door, asked, told, held.",
}


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One place that breaks a rule."""

    path: Path
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        """Path, line, rule and the offending text, on one line."""
        where = f"{self.path.relative_to(ROOT)}:{self.line}"
        return f"{where} [{self.rule}] {' '.join(self.text.split())[:160]}"


def find_hits(path: Path) -> Iterator[Hit]:
    """Places of one Python file that break a rule, in no particular order."""
    for line, text in _docstrings(path):
        if _OPENING.match(text):
            yield Hit(path=path, line=line, rule="opening", text=text)
        if len(_first_sentence(text).split()) > _MOST_WORDS:
            yield Hit(path=path, line=line, rule="length", text=text)
        yield from _hits_in(path, line, text)
    for line, text in _comments(path):
        yield from _hits_in(path, line, text)
    for node in nodes_of(path):
        for name in _bound_names(node):
            if name in _OLD_NAMES:
                yield Hit(path=path, line=getattr(node, "lineno", 0), rule="name", text=name)


def find_rules_broken(text: str) -> Iterator[str]:
    """Rules for words and verbs that a text breaks. Code and quotations are left alone."""
    plain = re.sub(r"`[^`]*`|\"[^\"]*\"", "", text)
    for rule, pattern in (("who", _FUSED_WHO), ("verb", _HUMAN_VERB), ("word", _ODD_WORD)):
        if pattern.search(plain):
            yield rule


def _hits_in(path: Path, line: int, text: str) -> Iterator[Hit]:
    for rule in find_rules_broken(text):
        yield Hit(path=path, line=line, rule=rule, text=text)


def _docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Strings that stand as statements: docstrings, and those below an attribute."""
    for node in nodes_of(path):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if (
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Constant)
                and isinstance(statement.value.value, str)
            ):
                yield statement.lineno, statement.value.value.strip()


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.:;?!])\s|\n\n", re.sub(r"`[^`]*`", "x", text), maxsplit=1)[0]


def _comments(path: Path) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def _bound_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name


def main() -> None:
    """Print the places below the path of the first argument, of one rule if a second is given."""
    start, *rules = sys.argv[1:]
    paths = [ROOT / start] if start.endswith(".py") else python_files(start)
    for path in paths:
        for hit in sorted(find_hits(path), key=lambda one: one.line):
            if not rules or hit.rule in rules:
                print(hit)  # noqa: T201 - what the command is for


if __name__ == "__main__":
    main()
