"""What an examination found, as structs. Its JSON is the output of `assay doctor --output json`."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from assay.doctor.check import CheckResult, CheckStatus
from assay.doctor.cost import CostEstimate
from core.evm.primitives import Hash32

NodeVerdict = Literal["good", "failed", "incomplete"]
"""failed: a check has failed. incomplete: none has, but not all were run."""


class EndpointReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at one endpoint."""

    endpoint: str
    """Host and port; never the path, which may hold a key. Numbered where two are alike."""
    client: str | None
    """What it calls itself (web3_clientVersion). None: it does not say."""
    head: int | None
    """Number of the newest block. None: not known."""
    results: tuple[CheckResult, ...]
    calls: int
    """Requests sent, answered or not."""
    seconds: float
    is_complete: bool
    """False: the budget, the time or Ctrl-C ended it. What was not run is `skipped`."""


class DoctorReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one chain."""

    chain: str
    chain_id: int
    checked_at_s: int
    """Unix seconds."""
    verdict: NodeVerdict
    counts: dict[CheckStatus, int]
    endpoints: tuple[EndpointReport, ...]
    comparison: tuple[CheckResult, ...]
    """Of endpoints with each other; empty for a single one."""
    cost: CostEstimate | None
    """None: not measured, as a check that it rests on has failed, or for want of time."""
    cost_missing: str = ""
    """Why there is no cost estimate."""


class BlockAt(msgspec.Struct, frozen=True, kw_only=True):
    """A block of one endpoint at a height that endpoints are compared at."""

    number: int
    hash: Hash32


def judge(endpoints: Sequence[EndpointReport], comparison: Sequence[CheckResult]) -> NodeVerdict:
    """Return the verdict on a chain's endpoints."""
    if any(one.status == "failed" for one in all_results(endpoints, comparison)):
        return "failed"
    return "good" if all(one.is_complete for one in endpoints) else "incomplete"


def count(
    endpoints: Sequence[EndpointReport], comparison: Sequence[CheckResult]
) -> dict[CheckStatus, int]:
    """Return the number of results by status, the worst first."""
    counts: dict[CheckStatus, int] = {}
    for status in WORST_FIRST:
        found = sum(one.status == status for one in all_results(endpoints, comparison))
        if found:
            counts[status] = found
    return counts


WORST_FIRST: tuple[CheckStatus, ...] = ("failed", "degraded", "unknown", "skipped", "ok")


def all_results(
    endpoints: Sequence[EndpointReport], comparison: Sequence[CheckResult]
) -> Iterable[CheckResult]:
    """Yield the results of all endpoints, and of their comparison."""
    for endpoint in endpoints:
        yield from endpoint.results
    yield from comparison
