"""Disputes of verdicts: filing within limits, and the recorded analysis of each.

The analysis is the one that anybody gets as an evidence pack. The statement is no input of it.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import structlog

from analysis.replay.evidence_pack import EvidencePackError, PackFile, decode_pack
from api.deps import ApiDeps
from api.error_answers import DetailBody, InvalidInputError, InvalidItem, LimitedError, RefusalError
from api.formats.rendering import native_of, summary_of
from api.formats.resources.disputes_format import (
    MOST_SENDER_CHARS,
    MOST_STATEMENT_CHARS,
    DisputeRequest,
)
from api.formats.summary.summary import Summary
from api.formats.token_snapshot import take_snapshot
from api.serving.answers import Answers
from config.facts.chain import Chain
from core.errors import StoreError, TokenRefusedError
from core.evm.primitives import Address
from core.report.report import Report
from core.text.visible_text import has_concealed
from sql.engine.store import Store
from sql.reports.dispute_tables import (
    MOST_DISPUTES_SHOWN,
    DisputeLimits,
    DueDispute,
    NewDispute,
    SettledDispute,
    StoredDispute,
    find_dispute_wait,
    list_token_disputes,
    read_dispute_pack,
    settle_dispute,
    take_due_dispute,
    write_dispute,
)

_OF_TOKEN: Final = 1
_OF_KEY: Final = 5
_WITHIN_S: Final = 120
"""Longest attempt."""

_LEASE_S: Final = 2 * _WITHIN_S
_MOST_ATTEMPTS: Final = 5
_LOOK_EVERY_S: Final = 30.0
_MOST_PACK_BYTES: Final = 4 << 20
_OUR_FAULT: Final = "the analysis failed on our side"

_log = structlog.get_logger(__name__)


class NothingToDisputeError(RefusalError):
    """The token has no stored report."""

    def __init__(self) -> None:
        detail = "This token has no verdict yet: request it first."
        super().__init__(status=404, body=DetailBody(detail=detail))


class DisputesSpentError(LimitedError):
    """The limit of disputes of a token, key or chain is reached."""

    def __init__(self, *, retry_after_s: int) -> None:
        detail = (
            "A token has one dispute a day, a key five, and a chain a number that the deployment "
            "sets."
        )
        super().__init__(detail=detail, headers={"Retry-After": str(retry_after_s)})


class DisputeService:
    """Disputes of the served chains."""

    def __init__(self, deps: ApiDeps, answers: Answers, store: Store) -> None:
        self._deps = deps
        self._answers = answers
        self._store = store
        self._chains = {chain.id: chain for chain in deps.chains}
        self._limits = DisputeLimits(
            of_token=_OF_TOKEN, of_key=_OF_KEY, of_chain=deps.public.disputes_per_day_and_chain
        )
        self._running: asyncio.Task[None] | None = None

    async def file(
        self, *, chain: Chain, address: Address, key_id: int | None, request: DisputeRequest
    ) -> StoredDispute:
        """File a dispute of the stored verdict, and start its analysis.

        `key_id` None: it is filed without a key. Raises InvalidInputError, NothingToDisputeError,
        DisputesSpentError, TokenRefusedError, StoreError.
        """
        sender, statement = _checked(request)
        known = await self._answers.recall(chain=chain.slug, address=address)
        if known.snapshot is None:
            raise NothingToDisputeError
        summary = summary_of(known.snapshot, native_of(known.snapshot))
        dispute = NewDispute(
            chain_id=chain.id,
            address=address,
            key_id=key_id,
            filed_at_s=int(self._deps.now_s()),
            sender=sender,
            statement=statement,
            verdict_before=str(summary.verdict),
            reasons_before=summary.verdict_reasons,
            block_before=known.snapshot.report.token.block_number,
        )
        number = await asyncio.to_thread(self._write, dispute)
        self.wake()
        found = await self.list_of_token(chain=chain, address=address)
        return next(one for one in found if one.dispute_id == number)

    async def list_of_token(self, *, chain: Chain, address: Address) -> Sequence[StoredDispute]:
        """Return the newest disputes of a token, newest first. Raises StoreError."""
        return await asyncio.to_thread(
            list_token_disputes,
            self._store,
            chain_id=chain.id,
            address=address,
            at_most=MOST_DISPUTES_SHOWN,
        )

    async def read_pack(self, *, chain: Chain, address: Address, number: int) -> bytes | None:
        """Return the evidence pack of a dispute of the token. None: there is none.

        Raises StoreError.
        """
        return await asyncio.to_thread(
            read_dispute_pack,
            self._store,
            chain_id=chain.id,
            address=address,
            dispute_id=number,
        )

    def wake(self) -> None:
        """Start due analyses, unless some are running."""
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run_due())

    async def keep_running(self) -> None:
        """Start analyses as they become due, such as those of a process that was killed."""
        while True:
            self.wake()
            await asyncio.sleep(_LOOK_EVERY_S)

    async def wait(self) -> None:
        """Wait for the analyses that were due at the last wake."""
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)

    async def aclose(self) -> None:
        """Cancel the running analysis; another process or the next start repeats it."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def _write(self, dispute: NewDispute) -> int:
        # Alone, as the limit of a key counts the disputes of all chains.
        with self._store.transaction() as tx:
            wait_s = find_dispute_wait(tx, dispute, self._limits)
            if wait_s is not None:
                raise DisputesSpentError(retry_after_s=max(1, wait_s))
            return write_dispute(tx, dispute)

    async def _run_due(self) -> None:
        with suppress(StoreError):  # the next round tries again
            while (due := await self._take()) is not None:
                # An attempt that ends the process is counted, too.
                is_spent = due.attempts >= _MOST_ATTEMPTS
                end = self._failed(_OUR_FAULT) if is_spent else await self._settle(due)
                if end is not None:
                    await asyncio.to_thread(settle_dispute, self._store, due, end)

    async def _take(self) -> DueDispute | None:
        now_s = int(self._deps.now_s())
        return await asyncio.to_thread(
            take_due_dispute,
            self._store,
            # Attempts of processes without a node of the chain would be lost.
            chain_ids=[chain.id for chain in self._deps.chains if chain.slug in self._deps.served],
            now_s=now_s,
            until_s=now_s + _LEASE_S,
        )

    async def _settle(self, due: DueDispute) -> SettledDispute | None:
        """Return the end of a dispute. None: it is tried again later."""
        try:
            return await self._analyse(due)
        except TokenRefusedError as error:
            return self._failed(error.reason)
        except Exception as error:  # noqa: BLE001 - a bug must not repeat it for ever, either
            _log.warning("dispute not analysed", dispute=due.dispute_id, reason=repr(error))
            if due.attempts + 1 < _MOST_ATTEMPTS:
                return None
            return self._failed(_OUR_FAULT)

    async def _analyse(self, due: DueDispute) -> SettledDispute:
        chain = self._chains[due.chain_id]
        async with asyncio.timeout(_WITHIN_S):
            file = await self._deps.quotes.record_pack(chain.slug, due.address)
        return await asyncio.to_thread(self._settled, chain, file)

    def _settled(self, chain: Chain, file: PackFile) -> SettledDispute:
        if len(file.body) > _MOST_PACK_BYTES:
            raise EvidencePackError(reason=f"it has more than {_MOST_PACK_BYTES} bytes")
        summary = self._summary(chain, decode_pack(file.body).report)
        return SettledDispute(
            settled_at_s=int(self._deps.now_s()),
            verdict_after=str(summary.verdict),
            reasons_after=summary.verdict_reasons,
            block_after=file.block.number,
            signer=file.signer,
            pack=file.body,
        )

    def _summary(self, chain: Chain, report: Report) -> Summary:
        snapshot = take_snapshot(
            report,
            chain,
            now_s=self._deps.now_s(),
            liquid_above_usd=self._deps.liquid_above_usd,
            has_owner_simulation=self._deps.has_owner_simulation,
            has_liquidity_check=self._deps.has_liquidity_check,
        )
        return summary_of(snapshot, native_of(snapshot))

    def _failed(self, reason: str) -> SettledDispute:
        return SettledDispute(settled_at_s=int(self._deps.now_s()), failure=reason)


def _checked(request: DisputeRequest) -> tuple[str, str]:
    """Return sender and statement without blanks around them. Raises InvalidInputError."""
    sender, statement = request.sender.strip(), request.statement.replace("\r\n", "\n").strip()
    for name, text, allowed, most in (
        ("sender", sender, "", MOST_SENDER_CHARS),
        ("statement", statement, "\n", MOST_STATEMENT_CHARS),
    ):
        if not 0 < len(text) <= most:
            raise _invalid(name, f"Expected text of at most {most} characters.")
        if has_concealed(text, allowed=allowed):
            raise _invalid(name, "Expected plain text without control or format characters.")
    return sender, statement


def _invalid(name: str, message: str) -> InvalidInputError:
    return InvalidInputError(InvalidItem(loc=("body", name), msg=message, type="value_error"))
