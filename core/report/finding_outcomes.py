"""Outcomes of the tokens that had the same findings before their first trade. Pure."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

LEAST_KNOWN: Final = 100
"""Known outcomes below which nothing is published of a set of findings."""

_OF_TRADES: Final = frozenset({"sell_failed", "buy_failed", "no_liquidity"})
"""Reasons of a verdict that no check has as its key."""

_FOUND: Final = frozenset({"danger", "warning"})
_WHOLE_PCT: Final = 100


class FindingOutcomes(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one chain with the same findings, by their first day of trades."""

    findings: str
    """Key of the findings; see findings_key."""
    known: int
    """Tokens whose buyers tried to sell."""
    trapped: int
    """Tokens among them that trapped at least one buyer within a day."""


KnownOutcomes = Mapping[str, FindingOutcomes]
"""Outcomes of a chain by key of the findings."""


def findings_key(statuses: Iterable[tuple[str, str]], reasons: Iterable[str]) -> str:
    """Return the key of a set of findings: check keys joined by commas, in order of the alphabet.

    `statuses`: key and status of each check; danger and warning count. `reasons`: those of the
    verdict. Empty: nothing was found.
    """
    found = {key for key, status in statuses if status in _FOUND}
    return ",".join(sorted(found | _OF_TRADES.intersection(reasons)))


def find_outcomes(known: KnownOutcomes, findings: str) -> FindingOutcomes | None:
    """Return the outcomes of tokens with these findings. None: nothing was found, or fewer than
    LEAST_KNOWN outcomes are known."""
    found = known.get(findings) if findings else None
    return found if found is not None and found.known >= LEAST_KNOWN else None


def outcome_sentence(outcomes: FindingOutcomes) -> str:
    """Return the outcomes as a sentence. A share is rounded, but never to none or all."""
    return (
        f"Of {outcomes.known:,} tokens with these findings on this chain and a known outcome, "
        f"{_share(outcomes)} trapped a buyer within a day."
    )


def _share(outcomes: FindingOutcomes) -> str:
    if not outcomes.trapped:
        return "none"
    if outcomes.trapped == outcomes.known:
        return "all"
    pct = round(_WHOLE_PCT * outcomes.trapped / outcomes.known)
    if pct == 0:
        return "less than 1 %"
    return f"{pct} %" if pct < _WHOLE_PCT else "more than 99 %"
