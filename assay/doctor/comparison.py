"""Endpoints of one chain against each other: heads that differ, and blocks that do. Pure."""

from collections.abc import Mapping, Sequence

from assay.doctor.check import CheckResult, CheckStatus
from config.chains import Chain
from core.evm.primitives import Hash32

_MOST_APART_S = 30.0
_LEAST_APART = 3
"""Blocks that heads may be apart, whatever the chain's pace: they are asked one after another."""


def common_height(heads: Mapping[str, int], chain: Chain) -> int | None:
    """Return a height that all endpoints have, a little below their heads. None: there are fewer
    than two endpoints to compare."""
    if len(heads) < 2:  # noqa: PLR2004 - a comparison
        return None
    return max(0, min(heads.values()) - min(_LEAST_APART, chain.finality_blocks))


def compare(
    chain: Chain, heads: Mapping[str, int], *, height: int, hashes: Mapping[str, Hash32 | None]
) -> Sequence[CheckResult]:
    """Return what differs between endpoints, by their names. A hash that is None: the endpoint has
    no block at the height, or did not answer."""
    return [_heads(chain, heads), _blocks(height, hashes)]


def _heads(chain: Chain, heads: Mapping[str, int]) -> CheckResult:
    newest = max(heads.values())
    allowed = max(_LEAST_APART, chain.blocks_in(_MOST_APART_S))
    behind = {name: newest - head for name, head in heads.items() if newest - head > allowed}
    if not behind:
        return _result("heads", "ok", f"at most {newest - min(heads.values())} blocks apart")
    told = ", ".join(f"{name} by {blocks}" for name, blocks in behind.items())
    return _result("heads", "failed", f"behind block {newest}: {told}")


def _blocks(height: int, hashes: Mapping[str, Hash32 | None]) -> CheckResult:
    told = {name: found for name, found in hashes.items() if found is not None}
    if len(set(told.values())) > 1:
        shown = ", ".join(f"{name} {found}" for name, found in told.items())
        return _result("blocks", "failed", f"block {height} differs: {shown}")
    if len(told) < len(hashes):
        silent = ", ".join(name for name in hashes if name not in told)
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
