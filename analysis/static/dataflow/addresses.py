"""Recognition of address expressions: the caller, and signers recovered by ecrecover."""

from analysis.static.dataflow.linear_amounts import core
from analysis.static.evm.expressions import Expr, Value, address_in
from analysis.static.evm.instruction_effects import ECRECOVER


def party(word: Value) -> Value:
    """Return an address expression in canonical form: without masks and shifts."""
    return address_in(core(address_in(word)))


def is_caller(word: Value) -> bool:
    """True if the word is the caller's address."""
    bare = party(word)
    return isinstance(bare, Expr) and bare.operation == "CALLER"


def recovered(word: Value) -> tuple[Value, ...] | None:
    """Return digest, v, r and s of a word returned by ecrecover. None: it is another word."""
    if isinstance(word, Expr) and word.operation == "result" and word.arguments[0] == ECRECOVER:
        return word.arguments[2:]
    return None
