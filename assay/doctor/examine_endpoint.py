"""Runs all checks against one endpoint; an interruption keeps the results so far."""

import time
from collections.abc import Callable, Sequence

import msgspec

from assay.doctor.call_budget import BudgetSpentError
from assay.doctor.check import (
    Check,
    CheckFinding,
    CheckResult,
    CheckStatus,
    NotHeldError,
    ProbeAnswers,
    Subject,
    ask,
    is_result,
    result_of,
    shorten,
)
from assay.doctor.check_registry import CHECKS, IDENTITY
from assay.doctor.probe import Probe
from assay.doctor.report import EndpointReport
from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.errors import UpstreamError
from core.evm.primitives import ZERO_ADDRESS, BlockRef, Hash32
from core.rpc.headers import LATEST, Header, LogsBloom, decode_header
from core.rpc.limits import RpcLimits
from core.rpc.messages import RpcRequest

Tell = Callable[[str, int, int], None]
"""Called with the name of the next check, the number done and the total."""

_NO_HEAD = Header(
    ref=BlockRef(number=0, hash=Hash32("0x"), parent_hash=Hash32("0x"), time_s=0),
    logs_bloom=LogsBloom(0),
    proposer=ZERO_ADDRESS,
    base_fee_wei=None,
)


class Examination:
    """Checks of one endpoint. The results so far may be read at any time."""

    def __init__(
        self,
        probe: Probe,
        chain: Chain,
        *,
        rpc: RpcLimits,
        indexer: IndexerSettings,
        now_s: Callable[[], float],
        checks: Sequence[Check] = CHECKS,
    ) -> None:
        self._probe = probe
        self._checks = checks
        self._subject = Subject(
            chain=chain,
            head=_NO_HEAD,
            rpc=rpc,
            indexer=indexer,
            now_s=now_s,
            can_announce=probe.can_announce,
        )
        self._results: list[CheckResult] = []
        self._done: set[str] = set()
        self._client: str | None = None
        self._head: Header | None = None
        self._started_s = time.monotonic()
        self._seconds: float | None = None
        self._stopped = "not reached"

    @property
    def head(self) -> Header | None:
        """Return the newest block read. None: none."""
        return self._head

    async def run(self, tell: Tell) -> None:
        """Run the remaining checks. Returns early if the budget is spent, the endpoint serves
        another chain, or it has stopped answering."""
        try:
            await self._run(tell)
        except BudgetSpentError as error:
            self._stopped = str(error)
        finally:
            self._seconds = time.monotonic() - self._started_s

    async def _run(self, tell: Tell) -> None:
        await self._run_check(IDENTITY, self._subject)
        if any(result.status == "failed" for result in self._results):
            self._stopped = "the endpoint does not serve this chain, or does not answer"
            return
        answers = await self._probe.ask(ask(RpcRequest("web3_clientVersion")))
        self._client = _text(answers)
        for at, check in enumerate(self._checks):
            tell(check.name, at, len(self._checks))
            if self._probe.is_silent:
                self._stopped = "the endpoint has stopped to answer"
                return
            head = await self._fetch_head()
            if head is None:
                self._stopped = "the endpoint has no newest block"
                return
            self._head = head
            await self._run_check(check, msgspec.structs.replace(self._subject, head=head))
        tell("done", len(self._checks), len(self._checks))

    async def _fetch_head(self) -> Header | None:
        answers = await self._probe.ask(ask(LATEST))
        try:
            raw = result_of(answers[0], what="latest block")
            return decode_header(raw, request="latest block")
        except (NotHeldError, UpstreamError) as error:
            self._results.append(_result(IDENTITY, _broken("failed", shorten(f"no head: {error}"))))
            return None

    async def _run_check(self, check: Check, subject: Subject) -> None:
        findings = await run_check(check, subject, self._probe)
        self._results += [_result(check, finding) for finding in findings]
        self._done.add(check.name)

    def report(self, name: str) -> EndpointReport:
        """Build the report of the results so far. `name`: of the endpoint."""
        left = [check for check in (IDENTITY, *self._checks) if check.name not in self._done]
        seconds = self._seconds
        return EndpointReport(
            endpoint=name,
            client=self._client,
            head=self._head.number if self._head else None,
            results=(
                *self._results,
                *(_result(check, _broken("skipped", self._stopped)) for check in left),
            ),
            calls=self._probe.calls,
            seconds=round(time.monotonic() - self._started_s if seconds is None else seconds, 2),
            is_complete=not left,
        )


async def run_check(check: Check, subject: Subject, probe: Probe) -> Sequence[CheckFinding]:
    """Run one check and return its findings. Raises BudgetSpentError."""
    steps = check.look(subject)
    try:
        question = next(steps)
        while True:
            question = steps.send(await probe.ask(question))
    except StopIteration as end:
        findings: Sequence[CheckFinding] = end.value
        return findings
    except (NotHeldError, UpstreamError) as error:
        return [_broken(check.severity, shorten(str(error)))]
    except (ValueError, LookupError, RecursionError) as error:
        # msgspec's errors and AbiError are ValueErrors: the node's answer has another form
        return [_broken(check.severity, shorten(f"an answer cannot be read: {error}"))]
    finally:
        steps.close()


def _broken(status: CheckStatus, seen: str) -> CheckFinding:
    return CheckFinding(status=status, seen=seen)


def _result(check: Check, finding: CheckFinding) -> CheckResult:
    is_good = finding.status in ("ok", "skipped")
    return CheckResult(
        check=check.name,
        group=check.group,
        subject=finding.subject,
        status=finding.status,
        seen=finding.seen,
        costs="" if is_good else _first(finding.costs, check.costs),
        mend="" if is_good else _first(finding.mend, check.mend),
    )


def _first(own: str | None, general: str) -> str:
    return general if own is None else own


def _text(answers: ProbeAnswers) -> str | None:
    answer = answers[0]
    try:
        return shorten(msgspec.json.decode(answer, type=str)) if is_result(answer) else None
    except ValueError:
        return None
