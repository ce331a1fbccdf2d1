"""Registries of launch platforms: one read each of whether the platform issued a token.

A registry that was configured from memory only, or whose record is not known word by word, is also
queried about its own address: one that also has a record of a contract that is no token does not
work as assumed.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from analysis.reads.chain_reads import Handle
from analysis.reads.eth_reads import WORD, NoAnswer, Reply
from analysis.reads.read_batch import ReadBatch
from config.facts.launchpad import Launchpad, Registry
from core.errors import UpstreamError
from core.evm.primitives import Address

_OFFSET_TO_STRUCT = WORD


class RegistryQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A query of one registry of one platform."""

    pad: Launchpad
    registry: Registry
    at: Address
    is_claimed: bool = False
    """The token itself names this registry."""

    @property
    def needs_proof(self) -> bool:
        """True if the registry has to show that it does not have a record of every address."""
        if self.is_claimed:
            return True
        one = self.registry
        is_vague = one.token_word is one.contract_word is one.set_word is None
        return is_vague or "recalled" in (one.confidence, self.pad.confidence)


class RegistryRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A registry's record of the token."""

    question: RegistryQuestion
    words: tuple[int, ...]
    """The answer's 256-bit words, without the offset of a struct."""


Nothing = Literal["denied", "silent", "unread"]
"""denied: the registry does not know the token. silent: no such contract, or an answer of another
form. unread: the node failed."""

Word = RegistryRecord | Nothing


def questions_to(pads: Iterable[Launchpad]) -> tuple[RegistryQuestion, ...]:
    """Return a query of every registry of these platforms."""
    return tuple(
        RegistryQuestion(pad=pad, registry=registry, at=at)
        for pad in pads
        for registry in pad.registry
        for at in registry.at or pad.contracts
    )


class RegistryReads:
    """The read of a registry, and where proof is needed the same read about the registry itself."""

    def __init__(self, batch: ReadBatch, question: RegistryQuestion, token: Address) -> None:
        self._batch = batch
        self._question = question
        self._token = token
        tokens = (token, question.at) if question.needs_proof else (token,)
        self._replies = [batch.call(question.at, question.registry.read, one) for one in tokens]

    def read(self) -> Word:
        """Decode the answers."""
        question = self._question
        replies = [reply_to(self._batch, reply) for reply in self._replies]
        word = _decode(question, self._token, replies[0])
        if len(replies) > 1 and isinstance(word, RegistryRecord):
            decoy = replies[1]
            if decoy == "unread":
                return "unread"
            if decoy == replies[0] or isinstance(
                _decode(question, question.at, decoy), RegistryRecord
            ):
                return "silent"  # it has such a record of every address
        return word


def reply_to(batch: ReadBatch, handle: Handle[Reply]) -> Reply | Literal["unread"]:
    """Return the contract's reply, or "unread" for a fault of the node.

    A fault is no error here, as an unknown issuer does not justify losing the whole analysis.
    """
    try:
        return batch[handle]
    except UpstreamError:
        return "unread"


def _decode(question: RegistryQuestion, token: Address, reply: Reply | Literal["unread"]) -> Word:
    registry = question.registry
    if isinstance(reply, str):
        return "unread"
    if isinstance(reply, NoAnswer):
        return "denied" if registry.denies_by == "revert" else "silent"
    words = _words(reply, at_least=registry.words)
    if words is None:
        return "silent"
    if not _knows(registry, words, token=token, contracts=question.pad.contracts):
        return "denied"
    return RegistryRecord(question=question, words=words)


def _words(reply: bytes, *, at_least: int) -> tuple[int, ...] | None:
    """Return the record's words. None: the answer is too short to be one."""
    words = tuple(
        int.from_bytes(reply[at : at + WORD]) for at in range(0, len(reply) - WORD + 1, WORD)
    )
    if len(words) > at_least and words[0] == _OFFSET_TO_STRUCT:
        words = words[1:]
    return words if len(words) >= at_least else None


def _knows(
    registry: Registry, words: tuple[int, ...], *, token: Address, contracts: Sequence[Address]
) -> bool:
    checks = []
    if registry.token_word is not None:
        checks.append(words[registry.token_word] == int(token, 16))
    if registry.contract_word is not None:
        checks.append(words[registry.contract_word] in {int(one, 16) for one in contracts})
    if registry.set_word is not None:
        checks.append(words[registry.set_word] != 0)
    return all(checks) if checks else any(words)
