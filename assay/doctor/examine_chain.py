"""Examines all endpoints of a chain concurrently, compares them, and estimates the cost."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from assay.doctor.call_budget import BudgetSpentError, CallBudget
from assay.doctor.check import Check, CheckResult, CheckStatus, NotHeldError, ask, result_of
from assay.doctor.check_registry import CHECKS
from assay.doctor.cost import CostEstimate, estimate_cost
from assay.doctor.examine_endpoint import Examination
from assay.doctor.probe import Probe
from assay.doctor.provider_weights import load_providers
from assay.doctor.report import DoctorReport, EndpointReport, count, judge
from config.facts.chain import Chain
from config.settings import Settings
from core.errors import AssayError, UpstreamError
from core.evm.primitives import Address, BlockRef, Hash32
from core.rpc.client import RpcClient
from core.rpc.headers import LATEST, decode_header, header_request
from core.rpc.messages import RpcRequest
from core.rpc.open_transport import open_transport
from core.rpc.transport import TransportLimits, name_endpoint

Show = Callable[[str, int, int], None]
"""Called with the step, the amount done and the total."""

_MOST_TIMEOUT_S = 10.0


class ExaminationBounds(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of an examination."""

    most_calls: int
    """Most calls of one endpoint."""
    deadline_s: float
    """Seconds for the checks of all endpoints, which run concurrently."""
    timeout_s: float = _MOST_TIMEOUT_S
    """Seconds for one message and its answer; never more than rpc.timeout_s."""


class ChainExamination:
    """Examination of one chain's endpoints. Its results so far can be reported at any time."""

    def __init__(
        self,
        chain: Chain,
        settings: Settings,
        bounds: ExaminationBounds,
        *,
        now_s: Callable[[], float] = time.time,
        checks: Sequence[Check] = CHECKS,
    ) -> None:
        """Raise ConfigError for an address that is no HTTP or WebSocket URL."""
        self._chain = chain
        self._settings = settings
        self._now_s = now_s
        self._deadline_s = time.monotonic() + bounds.deadline_s
        self._urls = [str(url) for url in settings.rpc_urls[chain.id]]
        self._names = _names(self._urls, source=f"ASSAY_RPC_{chain.id}")
        timeout_s = min(bounds.timeout_s, settings.rpc.timeout_s)
        limits = TransportLimits(
            timeout_s=timeout_s, max_response_bytes=settings.rpc.max_response_bytes
        )
        self._probes = [
            Probe(
                open_transport(url, service=name, limits=limits),
                CallBudget(
                    most_calls=bounds.most_calls,
                    deadline_s=self._deadline_s,
                    now_s=time.monotonic,
                ),
                timeout_s=timeout_s,
            )
            for url, name in zip(self._urls, self._names, strict=True)
        ]
        self._examinations = [
            Examination(
                probe,
                chain,
                rpc=settings.rpc,
                indexer=settings.indexer,
                now_s=now_s,
                checks=checks,
            )
            for probe in self._probes
        ]
        self._comparison: Sequence[CheckResult] = ()
        self._cost: CostEstimate | None = None
        self._cost_missing = "not reached"

    async def run(
        self, show: Show, *, token: Address | None = None, is_costed: bool = True
    ) -> None:
        """Run all checks, then compare and estimate. Failures of nodes are results, not errors.

        `token`: the one analysed for the estimate. None: the first stable coin. Without
        `is_costed` nothing is analysed.
        """
        try:
            await asyncio.gather(
                *(
                    one.run(_named(show, name))
                    for name, one in zip(self._names, self._examinations, strict=True)
                )
            )
            await self._compare()
            if is_costed:
                await self._estimate(token or self._chain.stables[0].address)
            else:
                self._cost_missing = "not asked for"
        finally:
            await asyncio.gather(*(probe.aclose() for probe in self._probes))

    def report(self) -> DoctorReport:
        """Build the report of the results so far."""
        endpoints = tuple(
            one.report(name) for name, one in zip(self._names, self._examinations, strict=True)
        )
        return DoctorReport(
            chain=self._chain.slug,
            chain_id=self._chain.id,
            checked_at_s=int(self._now_s()),
            verdict=judge(endpoints, self._comparison),
            counts=count(endpoints, self._comparison),
            endpoints=endpoints,
            comparison=tuple(self._comparison),
            cost=self._cost,
            cost_missing="" if self._cost else self._cost_missing,
        )

    async def _compare(self) -> None:
        """Compare the heads of all endpoints, and one block that all have."""
        alive = [
            (name, probe)
            for name, probe, one in zip(self._names, self._probes, self._examinations, strict=True)
            if one.head is not None
        ]
        found = await asyncio.gather(*(_fetch_block(probe, LATEST) for _, probe in alive))
        heads = {
            name: ref.number for (name, _), ref in zip(alive, found, strict=True) if ref is not None
        }
        height = common_height(heads, self._chain)
        if height is None:
            return
        readable = [(name, probe) for name, probe in alive if name in heads]
        refs = await asyncio.gather(
            *(_fetch_block(probe, header_request(height)) for _, probe in readable)
        )
        named = {
            name: None if ref is None else ref.hash
            for (name, _), ref in zip(readable, refs, strict=True)
        }
        self._comparison = compare(self._chain, heads, height=height, hashes=named)

    async def _estimate(self, token: Address) -> None:
        usable = [
            url
            for url, name, one in zip(self._urls, self._names, self._examinations, strict=True)
            if _is_usable(one.report(name))
        ]
        if not usable:
            self._cost_missing = "no endpoint passed the checks of identity and state"
            return
        left_s = self._deadline_s - time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, left_s)):
                self._cost = await self._measure(usable, token)
        except TimeoutError:
            self._cost_missing = "the time is over"
        except AssayError as error:
            self._cost_missing = str(error)

    async def _measure(self, urls: Sequence[str], token: Address) -> CostEstimate:
        client = await RpcClient.connect(urls, self._chain.id, self._settings.rpc)
        try:
            return await estimate_cost(
                self._chain, client, self._settings, token=token, providers=load_providers()
            )
        finally:
            await client.aclose()


def _named(show: Show, name: str) -> Show:
    return lambda what, done, total: show(f"{name}: {what}", done, total)


_NEEDED = frozenset({"chain id", "head age", "blocks by hash", "state by block hash"})


def _is_usable(report: EndpointReport) -> bool:
    """True if an analysis can be tried: the checks that it needs were run and did not fail."""
    passed = {one.check for one in report.results if one.status not in ("failed", "skipped")}
    return passed >= _NEEDED


def _names(urls: Sequence[str], *, source: str) -> list[str]:
    """Return host and port of each endpoint, numbered if several are equal."""
    services = [name_endpoint(url, source=source) for url in urls]
    alike, seen = Counter(services), Counter[str]()
    names = []
    for service in services:
        seen[service] += 1
        names.append(service if alike[service] == 1 else f"{service} ({seen[service]})")
    return names


async def _fetch_block(probe: Probe, request: RpcRequest) -> BlockRef | None:
    """Read a header and return its block. None: no readable answer."""
    try:
        answers = await probe.ask(ask(request))
        header = decode_header(result_of(answers[0], what="block"), request="block")
    except (BudgetSpentError, NotHeldError, UpstreamError):
        return None
    return None if header is None else header.ref


_MOST_APART_S = 30.0
_LEAST_APART = 3
"""Allowed distance of heads in blocks on every chain: endpoints are read one after another."""


def common_height(heads: Mapping[str, int], chain: Chain) -> int | None:
    """Return a height slightly below all heads. None: fewer than two endpoints to compare."""
    if len(heads) < 2:  # noqa: PLR2004 - a comparison
        return None
    return max(0, min(heads.values()) - min(_LEAST_APART, chain.finality_blocks))


def compare(
    chain: Chain, heads: Mapping[str, int], *, height: int, hashes: Mapping[str, Hash32 | None]
) -> Sequence[CheckResult]:
    """Compare endpoints by name. `hashes` at None: the endpoint has no block at the height, or did
    not answer."""
    return [_heads(chain, heads), _blocks(height, hashes)]


def _heads(chain: Chain, heads: Mapping[str, int]) -> CheckResult:
    newest = max(heads.values())
    allowed = max(_LEAST_APART, chain.blocks_in(_MOST_APART_S))
    behind = {name: newest - head for name, head in heads.items() if newest - head > allowed}
    if not behind:
        return _result("heads", "ok", f"at most {newest - min(heads.values())} blocks apart")
    shown = ", ".join(f"{name} by {blocks}" for name, blocks in behind.items())
    return _result("heads", "failed", f"behind block {newest}: {shown}")


def _blocks(height: int, hashes: Mapping[str, Hash32 | None]) -> CheckResult:
    known = {name: found for name, found in hashes.items() if found is not None}
    if len(set(known.values())) > 1:
        shown = ", ".join(f"{name} {found}" for name, found in known.items())
        return _result("blocks", "failed", f"block {height} differs: {shown}")
    if len(known) < len(hashes):
        silent = ", ".join(name for name in hashes if name not in known)
        return _result("blocks", "failed", f"block {height} is missing at {silent}")
    return _result("blocks", "ok", f"block {height} is the same everywhere")


_TEXTS = {
    "heads": (
        "answers come from blocks of different age; the client prefers the fastest endpoint, not "
        "the newest",
        "drop the endpoint that is behind, or let it catch up",
    ),
    "blocks": (
        "following stops: what one endpoint says, another contradicts",
        "find out which endpoint is on a fork of its own, and drop it",
    ),
}


def _result(name: str, status: CheckStatus, seen: str) -> CheckResult:
    costs, mend = ("", "") if status == "ok" else _TEXTS[name]
    return CheckResult(
        check=name,
        group="comparison",
        subject="",
        status=status,
        seen=seen,
        costs=costs,
        mend=mend,
    )
