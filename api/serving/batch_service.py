"""Batch requests: several tokens in one call, each counted as one call, with a common time limit.

Calls are counted token by token, in the order requested. If a limit is reached in the middle, the
tokens before it are answered and counted; those after it are refused and cost nothing. Tokens that
are slow or exceed the size bound are returned as pending.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from api.auth.keys import Caller
from api.auth.limits import KeyLimits
from api.error_answers import (
    CallerRefusalBody,
    DetailBody,
    LedgerDownError,
    RefusalError,
    ValidationBody,
)
from api.formats.rendering import Format
from api.serving.answers import Answers
from api.serving.cached_answer import CachedAnswer
from core.errors import StoreError
from core.report.fields.field import Pending

MOST_TOKENS = 50
"""Maximum addresses in one call."""

AT_ONCE = 8
"""Tokens of one call that are analysed at the same time; the analyser has its own bound."""

MOST_BYTES = 2**25
"""Maximum bytes of answers in one call: three or four of the longest there are, thousands of usual
ones. Those that do not fit are pending, so that fifty large ones do not fill the memory."""

GRACE_S = 0.5
"""Seconds between the analyser's own time limit, when it returns partial results, and the
call's."""


class BatchOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Result of one token of a call."""

    address: str
    """As first written by the caller."""
    found: CachedAnswer | RefusalError | Pending
    """The answer; the error that refused it; or pending: still being analysed, or too long to
    fit."""


class RefusalBody(msgspec.Struct, frozen=True, kw_only=True):
    """A refusal inside a body, with the status and retry time that HTTP would have in its head."""

    status: int
    error_code: str | None
    error: str
    retry_after_s: int | None
    """None: waiting does not help, or the time is unknown."""


class _RefusedToken(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of a refused token's body in every format."""

    error_code: str
    error: str


def refusal_body(refused: RefusalError | CachedAnswer) -> RefusalBody:
    """Convert a refusal of the caller, or the answer for a refused token, to its body form."""
    if isinstance(refused, CachedAnswer):
        token = msgspec.json.decode(refused.body, type=_RefusedToken)
        return RefusalBody(
            status=refused.status,
            error_code=token.error_code,
            error=token.error,
            retry_after_s=None,
        )
    body, wait = refused.body, refused.headers.get("Retry-After")
    if isinstance(body, CallerRefusalBody):
        code, error = body.error_code, f"{body.error}: {body.detail}"
    elif isinstance(body, DetailBody):
        code, error = None, body.detail
    elif isinstance(body, ValidationBody):
        code, error = None, " ".join(f"{item.loc[-1]}: {item.msg}" for item in body.detail)
    else:
        raise TypeError(type(body).__name__)
    return RefusalBody(
        status=refused.status,
        error_code=code,
        error=error,
        retry_after_s=None if wait is None else int(wait),
    )


class _Room:
    """Remaining part of MOST_BYTES. The first answer always fits, so repeated calls make
    progress."""

    def __init__(self) -> None:
        self._used = 0
        self.is_full = False

    def takes(self, answer: CachedAnswer) -> bool:
        """True if the answer fits, which reserves its bytes."""
        size = len(answer.body)
        if self._used and self._used + size > MOST_BYTES:
            self.is_full = True
            return False
        self._used += size
        return True


class BatchService:
    """Answers calls about several tokens of one chain."""

    def __init__(self, answers: Answers, limits: KeyLimits, *, wait_s: float):
        self._answers = answers
        self._limits = limits
        self._wait_s = wait_s + GRACE_S
        self._running: set[asyncio.Task[CachedAnswer | Pending]] = set()

    async def ask(
        self, caller: Caller, *, chain: str, addresses: Sequence[str], form: Format
    ) -> list[BatchOutcome]:
        """Return one outcome for each distinct address, in order.

        Addresses are compared case-insensitively. Raises RefusalError or StoreError when not even
        the first token is admitted.
        """
        wanted: dict[str, str] = {}
        for address in addresses:
            wanted.setdefault(address.lower(), address)
        admitted, refusal = await self._admit(caller, list(wanted.values()))
        slots = asyncio.Semaphore(AT_ONCE)
        room = _Room()

        async def run(address: str) -> CachedAnswer | Pending:
            async with slots:
                if room.is_full:
                    return "pending"
                answer = await self._answers.answer(chain=chain, address=address, form=form)
                return answer if room.takes(answer) else "pending"

        runs = {address: asyncio.create_task(run(address)) for address in admitted}
        for task in runs.values():
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        await asyncio.wait(runs.values(), timeout=self._wait_s)

        def outcome(address: str) -> CachedAnswer | RefusalError | Pending:
            task = runs.get(address)
            if task is not None:
                return task.result() if task.done() else "pending"
            assert refusal is not None  # noqa: S101 - what is not run was refused
            return refusal

        return [
            BatchOutcome(address=address, found=outcome(address)) for address in wanted.values()
        ]

    async def aclose(self) -> None:
        """Cancel the runs that callers no longer wait for."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _admit(
        self, caller: Caller, addresses: Sequence[str]
    ) -> tuple[list[str], RefusalError | None]:
        """Return the addresses that were admitted and counted, and the error that refused the next
        one."""
        for at in range(len(addresses)):
            try:
                await self._limits.admit(caller)
            except (RefusalError, StoreError) as error:
                if at == 0:
                    raise
                refusal = error if isinstance(error, RefusalError) else LedgerDownError()
                return list(addresses[:at]), refusal
        return list(addresses), None
