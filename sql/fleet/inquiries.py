"""Inquiries: what an API process without a node asks of one that has it, and the answers.

Nobody waits longer than some seconds, so an inquiry is worked on by one process at a time, is begun
again by another one when that process is silent, and is deleted by whoever asked.
"""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from sql.engine.postgres.single_statements import SingleStatements

INQUIRY_LEASE_S: Final = 4.0
"""Seconds after which a process that does not renew its inquiries has lost them."""

MOST_INQUIRIES: Final = 256
"""Inquiries about one chain that wait or are worked on; beyond it a new one is rejected at once."""

_MOST_ENDED: Final = 2
"""Processes that may end, one after the other, while they work on the same inquiry."""

_KEPT_S: Final = 60.0


class TakenInquiry(msgspec.Struct, frozen=True, kw_only=True):
    """An inquiry that this process works on."""

    inquiry: int
    chain_id: int
    question: bytes
    left_s: float
    """For how long its asker still waits."""


class AnsweredInquiry(msgspec.Struct, frozen=True, kw_only=True):
    """An inquiry that has come to an end."""

    inquiry: int
    answer: bytes


class _Number(msgspec.Struct, frozen=True, kw_only=True):
    inquiry: int


class Inquiries:
    """The inquiries of one fleet, as one process asks and takes them. Thread-safe; all calls block
    and raise StoreError."""

    def __init__(self, statements: SingleStatements, *, holder: str) -> None:
        """`holder`: a name that no other process has, nor will have."""
        self._statements = statements
        self._holder = holder

    def ask(self, chain_id: int, kind: str, question: bytes, *, within_s: float) -> int | None:
        """Ask, for an answer within that time; return the number. None: too many wait already."""
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
        """Begin those that wait longest: of each chain, by id, as many as are `free`. `kinds`:
        others are left, as they are of another release."""
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
        """Keep inquiries for another while; return those that this process still has."""
        found = self._statements.run(
            "inquiries/renew_inquiries",
            _Number,
            inquiries=list(inquiries),
            holder=self._holder,
            lease_s=INQUIRY_LEASE_S,
        )
        return {one.inquiry for one in found}

    def answer(self, inquiry: int, answer: bytes) -> None:
        """Answer; nothing where another process has taken it over, or nobody waits."""
        self._statements.run(
            "inquiries/answer_inquiry",
            _Number,
            inquiry=inquiry,
            answer=answer,
            holder=self._holder,
        )

    def answers(self, inquiries: Collection[int]) -> list[AnsweredInquiry]:
        """Return those that are answered."""
        return self._statements.run(
            "inquiries/list_answers", AnsweredInquiry, inquiries=list(inquiries)
        )

    def give_back(self) -> None:
        """Let other processes go on with those of this one, which ends."""
        self._statements.run("inquiries/give_back_inquiries", _Number, holder=self._holder)

    def delete(self, inquiry: int) -> None:
        """Forget one: its asker waits no longer."""
        self._statements.run("inquiries/delete_inquiry", _Number, inquiry=inquiry)

    def delete_old(self) -> None:
        """Forget those whose asker has ended."""
        self._statements.run("inquiries/delete_old", _Number, kept_s=_KEPT_S)
