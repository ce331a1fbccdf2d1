"""Words that are addresses: the caller's, and those that a signature was recovered to."""

from analysis.static.dataflow.linear_amounts import core
from analysis.static.evm.expressions import Term, Word, address_in
from analysis.static.evm.instruction_effects import ECRECOVER


def party(word: Word) -> Word:
    """An address as it is named in facts: without masks and shifts."""
    return address_in(core(address_in(word)))


def is_caller(word: Word) -> bool:
    """Whether the word is the caller's address."""
    bare = party(word)
    return isinstance(bare, Term) and bare.operation == "CALLER"


def recovered(word: Word) -> tuple[Word, ...] | None:
    """Digest, v, r and s, of a word that the precompile recovered. None: it is another."""
    if isinstance(word, Term) and word.operation == "result" and word.arguments[0] == ECRECOVER:
        return word.arguments[2:]
    return None
