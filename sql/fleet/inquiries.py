"""Inquiries: requests of API processes without a node to processes with one, and the answers.

Callers wait a few seconds at most. One process at a time works on an inquiry, another begins again
when that process is silent, and the requesting process deletes it.
"""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from sql.engine.postgres.single_statements import SingleStatements

INQUIRY_LEASE_S: Final = 4.0
"""Seconds after which a process without renewals loses its inquiries."""

MOST_INQUIRIES: Final = 256
"""Open inquiries about one chain; beyond it a new one is rejected."""

_MOST_ENDED: Final = 2
"""Processes that may end one after the other while working on the same inquiry."""

_KEPT_S: Final = 60.0


class TakenInquiry(msgspec.Struct, frozen=True, kw_only=True):
    """An inquiry that this process works on."""

    inquiry: int
    chain_id: int
    question: bytes
    left_s: float
    """Remaining seconds of its caller's wait."""


class AnsweredInquiry(msgspec.Struct, frozen=True, kw_only=True):
    """An inquiry that has ended."""

    inquiry: int
    answer: bytes


class _Number(msgspec.Struct, frozen=True, kw_only=True):
    inquiry: int


class Inquiries:
    """Access of one process to the inquiries of its fleet. Thread-safe; all calls block and raise
    StoreError."""

    def __init__(self, statements: SingleStatements, *, holder: str) -> None:
        """Act as `holder`, a name that no other process ever has."""
        self._statements = statements
        self._holder = holder

    def ask(self, chain_id: int, kind: str, question: bytes, *, within_s: float) -> int | None:
        """Add an inquiry with a time limit; return its number. None: too many are open."""
        found = self._statements.run(
            "inquiries/ask_inquiry",
            _Number,
            chain_id=chain_id,
            kind=kind,
            question=question,
            within_s=within_s,
            at_most=MOST_INQUIRIES,
        )
        return found[0].inquiry if found else None

    def take(self, free: Mapping[int, int], *, kinds: Collection[str]) -> list[TakenInquiry]:
        """Begin the longest waiting inquiries, up to `free` of each chain id. Those of other
        `kinds` belong to another release and are left."""
        return self._statements.run(
            "inquiries/take_inquiries",
            TakenInquiry,
            chain_ids=list(free),
            free=list(free.values()),
            kinds=list(kinds),
            holder=self._holder,
            lease_s=INQUIRY_LEASE_S,
            at_most=_MOST_ENDED,
        )

    def renew(self, inquiries: Collection[int]) -> set[int]:
        """Renew inquiries; return those that this process still has."""
        found = self._statements.run(
            "inquiries/renew_inquiries",
            _Number,
            inquiries=list(inquiries),
            holder=self._holder,
            lease_s=INQUIRY_LEASE_S,
        )
        return {one.inquiry for one in found}

    def answer(self, inquiry: int, answer: bytes) -> None:
        """Store the answer, unless another process has taken over or the caller has left."""
        self._statements.run(
            "inquiries/answer_inquiry",
            _Number,
            inquiry=inquiry,
            answer=answer,
            holder=self._holder,
        )

    def answers(self, inquiries: Collection[int]) -> list[AnsweredInquiry]:
        """Return the answered inquiries of these."""
        return self._statements.run(
            "inquiries/list_answers", AnsweredInquiry, inquiries=list(inquiries)
        )

    def give_back(self) -> None:
        """Release the inquiries of this process when it ends."""
        self._statements.run("inquiries/give_back_inquiries", _Number, holder=self._holder)

    def delete(self, inquiry: int) -> None:
        """Delete an inquiry whose caller no longer waits."""
        self._statements.run("inquiries/delete_inquiry", _Number, inquiry=inquiry)

    def delete_old(self) -> None:
        """Delete the inquiries of callers that have ended."""
        self._statements.run("inquiries/delete_old", _Number, kept_s=_KEPT_S)
