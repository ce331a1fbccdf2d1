"""Words that are addresses: the caller's, and those that a signature was recovered to."""

from analysis.static.dataflow.linear_amounts import core
from analysis.static.evm.expressions import Expr, Value, address_in
from analysis.static.evm.instruction_effects import ECRECOVER


def party(word: Value) -> Value:
    """An address as it is named in facts: without masks and shifts."""
    return address_in(core(address_in(word)))


def is_caller(word: Value) -> bool:
    """Whether the word is the caller's address."""
    bare = party(word)
    return isinstance(bare, Expr) and bare.operation == "CALLER"


def recovered(word: Value) -> tuple[Value, ...] | None:
    """Digest, v, r and s, of a word that the precompile recovered. None: it is another."""
    if isinstance(word, Expr) and word.operation == "result" and word.arguments[0] == ECRECOVER:
        return word.arguments[2:]
    return None
