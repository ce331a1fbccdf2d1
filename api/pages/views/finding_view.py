"""The findings of a token as lines of words, faults first, each with its proofs."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from api.formats.native.null_reasons import unknowns
from api.formats.prose.check_words import CHECK_WORDS, capital
from api.formats.prose.finding_clauses import wrong_clause
from api.formats.prose.headline import RANKED
from api.formats.prose.hook_clauses import router_clause
from api.formats.prose.rendered_report import RenderedReport
from api.formats.summary.flags import Flag, Status
from api.pages.views.proof_view import ProofShown, proofs_of
from core.report.fields.static_findings import StaticFindings

Group = Literal["wrong", "known", "unknown", "fine"]

_GROUPS: Final[dict[Status, Group]] = {
    "danger": "wrong",
    "warning": "wrong",
    "info": "known",
    "notice": "known",
    "unknown": "unknown",
    "safe": "fine",
}

_RANK: Final = {key: at for at, key in enumerate(RANKED)}

_ONLY_PARTS: Final = {
    "has_pause_functionality": "pause_status_can_be_modified",
    "has_tax_functionality": "tax_can_be_modified",
    "privileged_spenders": "allowance_bypass",
    "transfer_from_guarded_by_storage": "transfer_guarded_by_storage",
    "allowance_bypass": "funds_can_be_drained",
    "elevated_tax": "high_tax",
}
"""Check -> check that covers it, if both have the same answer for a token."""


class FindingLine(msgspec.Struct, frozen=True, kw_only=True):
    """One finding in words."""

    key: str
    status: Status
    text: str
    """A sentence without a full stop."""
    checks: int = 1
    """Checks that it stands for, as the summary counts them."""
    why: str | None
    """Reason why there is no answer, or basis of a good answer without a proof. None: neither is
    known."""
    proofs: tuple[ProofShown, ...]


class FindingGroups(msgspec.Struct, frozen=True, kw_only=True):
    """All lines, by what they mean for the reader."""

    wrong: tuple[FindingLine, ...]
    known: tuple[FindingLine, ...]
    """Neither good nor bad by itself."""
    unknown: tuple[FindingLine, ...]
    fine: tuple[FindingLine, ...]


def view_findings(rendered: RenderedReport) -> FindingGroups:
    """Return every check of the summary as a line of its group, the worst first."""
    reasons = unknowns(rendered.report, rendered.native)
    by_group: dict[Group, list[FindingLine]] = {
        "wrong": [],
        "known": [],
        "unknown": [],
        "fine": [],
    }
    for flag in sorted(rendered.summary.flags, key=lambda flag: _RANK.get(flag.key, len(_RANK))):
        by_group[_GROUPS[flag.status]].append(_line(flag, rendered, reasons))
    by_group["known"] += _of_router(rendered)
    order = {"danger": 0, "warning": 1}
    by_group["wrong"].sort(key=lambda line: order[line.status])
    if rendered.summary.can_sell is not True:
        by_group["unknown"] = _with_sales_joined(by_group["unknown"], rendered)
    return FindingGroups(
        **{group: tuple(_without_repeats(lines)) for group, lines in by_group.items()}
    )


def _of_router(rendered: RenderedReport) -> Iterator[FindingLine]:
    """Yield the line on the only router, which is no check."""
    clause = router_clause(rendered)
    if clause is not None:
        why = "The hook of its pool reverts unless the trade comes from that router"
        yield FindingLine(
            key="only_router", status="notice", text=capital(clause), checks=0, why=why, proofs=()
        )


_OF_SALES: Final = frozenset(
    {
        *("high_tax", "elevated_tax", "sell_blocked_later", "sell_tax_rises"),
        *("sell_blocked_after_others", "sell_depends_on_size", "sell_depends_on_conditions"),
        *("untested_conditions", "dominant_pool_unsellable"),
    }
)
"""Checks that need a sale that passes."""


def _with_sales_joined(lines: Sequence[FindingLine], rendered: RenderedReport) -> list[FindingLine]:
    """Return the lines with those that only wait for a sale as one."""
    joined = [line for line in lines if line.key in _OF_SALES]
    rest = [line for line in lines if line.key not in _OF_SALES]
    if len(joined) <= 1:
        return list(lines)
    is_refused = rendered.summary.can_sell is False
    line = FindingLine(
        key="later_sales",
        status="unknown",
        text="What sales are taxed, now and later, after others have traded, in other sizes and "
        "under other conditions",
        checks=len(joined),
        why="No sale works today" if is_refused else "No sale was simulated",
        proofs=(),
    )
    return [line, *rest]


def _line(flag: Flag, rendered: RenderedReport, reasons: dict[str, str]) -> FindingLine:
    words = CHECK_WORDS[flag.key]
    match flag.status:
        case "unknown":
            text = words.unknown
        case "safe":
            text = words.fine
        case _:
            text = wrong_clause(flag.key, rendered)
    proofs = proofs_of(flag.key, rendered)
    return FindingLine(
        key=flag.key,
        status=flag.status,
        text=capital(text),
        why=_why(flag, reasons, has_proof=bool(proofs)),
        proofs=proofs,
    )


def _why(flag: Flag, reasons: dict[str, str], *, has_proof: bool) -> str | None:
    if flag.status == "unknown":
        reason = reasons.get(flag.key) or reasons.get(_FIELDS.get(flag.key, flag.key))
        return None if reason is None else capital(reason.partition(": see `")[0])
    if has_proof:
        return None
    is_followed = flag.status == "safe" and flag.key in _BY_CODE
    return _FOLLOWED if is_followed else _BASES.get(flag.key)


_FOLLOWED: Final = "Every path of the code was followed, and none does it"
_BY_CODE: Final = frozenset(
    {
        *StaticFindings.__struct_fields__,
        *("access_restrictions", "transfer_restrictions", "hidden_owner_controls"),
        "unproved_code",
    }
)
"""Checks that the code alone answers."""

_BASES: Final[dict[str, str]] = {
    "sell_depends_on_conditions": "Sales were simulated under other fees, gas, balances and times",
    "untested_conditions": "The conditions of trades in the code were simulated or proved harmless",
    "holder_concentration": "The largest balances were read at this block",
    "creator_holds_supply": "The creator's balance was read at this block",
    "has_enough_liquidity": "The pools' reserves were read at this block",
    "ownership_not_renounced": "The owner getters and the slots compared with callers were read",
    "disguised_code": "The creation was repeated, and its storage compared with its events",
    "is_open_source": "A service that publishes sources was asked",
}
"""Check -> basis of its answer where no place in the code and no simulation proves it."""


_FIELDS: Final = {
    "transfer_failed": "transfer_success",
    "disguised_code": "hidden_creation",
    "ownership_not_renounced": "ownership_renounced",
    "access_restrictions": "has_blacklist_or_whitelist",
    "creator_holds_supply": "creator_percent",
    "privileged_spenders": "allowance_bypass",
    "dominant_pool_unsellable": "sell_blocked_later",
    "high_tax": "sell_blocked_later",
    "elevated_tax": "sell_blocked_later",
}
"""Check -> field with the same reason for null."""


def _without_repeats(lines: Sequence[FindingLine]) -> Iterator[FindingLine]:
    """Yield the lines whose check is not covered by another of the same group; proofs and counts of
    the others go there."""
    present = {line.key: line for line in lines}
    first_with: dict[str, str] = {}
    for line in lines:
        first_with.setdefault(line.text, line.key)
    merged: dict[str, list[FindingLine]] = {}
    for line in lines:
        key = line.key
        while _ONLY_PARTS.get(key) in present:
            key = _ONLY_PARTS[key]
        merged.setdefault(first_with[present[key].text], []).append(line)
    for line in lines:
        parts = merged.get(line.key)
        if parts is not None:
            found = {proof.title: proof for part in (line, *parts) for proof in part.proofs}
            checks = sum(part.checks for part in parts)
            yield msgspec.structs.replace(line, proofs=tuple(found.values()), checks=checks)
