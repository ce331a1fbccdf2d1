"""Conversion of named and positional parameters to PostgreSQL's numbered ones."""

import re
from functools import cache

import msgspec

from sql.engine.statements import Queries, load_postgres_statement

_NAMED = re.compile(r"(?<![\w$:])[$:]([a-z_]\w*)")
_PLAIN = re.compile(r"\?(\d*)")
_ORDERED_JOIN = re.compile(r"\bcross join (\w+(?: (?:as )?\w+)?)(?=\s+on\b)")
"""SQLite's syntax to fix the order of a join, which PostgreSQL's planner chooses."""
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)


class NumberedStatement(msgspec.Struct, frozen=True, kw_only=True):
    """A statement with parameters $1, $2 and so on."""

    text: str
    names: tuple[str, ...]
    """Names of the parameters in order; empty if they had none."""


@cache
def load_numbered(query: str, queries: Queries) -> NumberedStatement:
    """Return a statement by its name. Raises LookupError for an unknown one."""
    return number_parameters(load_postgres_statement(query, queries))


def number_parameters(text: str) -> NumberedStatement:
    """Return a statement without its comments, each `$name`, `:name`, `?` or `?2` as a number.

    Repeated names share a number. Texts in quotes must not contain any of these forms.
    """
    code = _ORDERED_JOIN.sub(r"join \1", _COMMENT.sub("", text))
    names = tuple(dict.fromkeys(_NAMED.findall(code)))
    if names:
        numbered = _NAMED.sub(lambda found: f"${names.index(found[1]) + 1}", code)
        return NumberedStatement(text=numbered, names=names)
    parts, last = [], 0
    for at, found in enumerate(_PLAIN.finditer(code), start=1):
        parts += [code[last : found.start()], f"${found[1] or at}"]
        last = found.end()
    return NumberedStatement(text="".join(parts) + code[last:], names=())
