"""The findings of a token as lines of words, what is wrong first, each with its proofs."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from api.formats.check_words import CHECK_WORDS
from api.formats.finding_clauses import wrong_clause
from api.formats.flags import Flag, Status
from api.formats.headline import RANKED
from api.formats.null_reasons import unknowns
from api.formats.rendered_report import RenderedReport
from api.pages.views.proof_view import ProofShown, proofs_of

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
"""Check -> check that already says it, if both say the same of a token."""


class FindingLine(msgspec.Struct, frozen=True, kw_only=True):
    """One finding in words."""

    key: str
    status: Status
    text: str
    """A sentence without a full stop."""
    why: str | None
    """Why there is no answer. None: there is one, or no reason is known."""
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
    order = {"danger": 0, "warning": 1}
    by_group["wrong"].sort(key=lambda line: order[line.status])
    return FindingGroups(
        **{group: tuple(_without_repeats(lines)) for group, lines in by_group.items()}
    )


def _line(flag: Flag, rendered: RenderedReport, reasons: dict[str, str]) -> FindingLine:
    words = CHECK_WORDS[flag.key]
    match flag.status:
        case "unknown":
            text = words.unknown
        case "safe":
            text = words.fine
        case _:
            text = wrong_clause(flag.key, rendered)
    is_unknown = flag.status == "unknown"
    return FindingLine(
        key=flag.key,
        status=flag.status,
        text=text if text.startswith("0x") else text[:1].upper() + text[1:],
        why=_reason(flag.key, reasons) if is_unknown else None,
        proofs=proofs_of(flag.key, rendered),
    )


_FIELDS: Final = {
    "transfer_failed": "transfer_success",
    "ownership_not_renounced": "ownership_renounced",
    "access_restrictions": "has_blacklist_or_whitelist",
    "creator_holds_supply": "creator_percent",
    "privileged_spenders": "allowance_bypass",
    "dominant_pool_unsellable": "sell_blocked_later",
    "high_tax": "sell_blocked_later",
    "elevated_tax": "sell_blocked_later",
}
"""Check -> field whose reason for null is also that of the check."""


def _reason(key: str, reasons: dict[str, str]) -> str | None:
    return reasons.get(key) or reasons.get(_FIELDS.get(key, key))


def _without_repeats(lines: Sequence[FindingLine]) -> Iterator[FindingLine]:
    """Yield the lines whose check is not told by another of the same group; its proofs go there."""
    present = {line.key: line for line in lines}
    texts: set[str] = set()
    for line in lines:
        teller = _ONLY_PARTS.get(line.key)
        is_told = teller in present or line.text in texts
        texts.add(line.text)
        if is_told:
            continue
        more = [
            proof
            for key, into in _ONLY_PARTS.items()
            if into == line.key and key in present
            for proof in present[key].proofs
        ]
        known = {proof.title for proof in line.proofs}
        extra = tuple(proof for proof in more if proof.title not in known)
        yield msgspec.structs.replace(line, proofs=(*line.proofs, *extra))
