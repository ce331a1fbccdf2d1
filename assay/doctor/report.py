"""Report of an examination. Its JSON is the output of `assay doctor --output json`."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from assay.doctor.check import CheckResult, CheckStatus
from assay.doctor.cost import CostEstimate
from core.evm.primitives import Hash32

NodeVerdict = Literal["good", "failed", "incomplete"]
"""failed: a check failed. incomplete: none failed, but not all were run."""


class EndpointReport(msgspec.Struct, frozen=True, kw_only=True):
    """Results of one endpoint."""

    endpoint: str
    """Host and port; never the path, which may contain a key. Numbered if two are equal."""
    client: str | None
    """Answer to web3_clientVersion. None: no answer."""
    head: int | None
    """Number of the newest block. None: not known."""
    results: tuple[CheckResult, ...]
    calls: int
    """Requests sent, answered or not."""
    seconds: float
    is_complete: bool
    """False: ended by the budget, the deadline or Ctrl-C. Checks not run are `skipped`."""


class DoctorReport(msgspec.Struct, frozen=True, kw_only=True):
    """Results of one chain."""

    chain: str
    chain_id: int
    checked_at_s: int
    """Unix seconds."""
    verdict: NodeVerdict
    counts: dict[CheckStatus, int]
    endpoints: tuple[EndpointReport, ...]
    comparison: tuple[CheckResult, ...]
    """Comparison of the endpoints; empty for a single one."""
    cost: CostEstimate | None
    """None: not measured, as a check that it needs has failed, or the time was up."""
    cost_missing: str = ""
    """Why there is no cost estimate."""


class BlockAt(msgspec.Struct, frozen=True, kw_only=True):
    """Block of one endpoint at the compared height."""

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
