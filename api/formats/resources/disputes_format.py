"""Disputes of verdicts, as answers."""

from typing import Annotated, Literal

import msgspec

from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from core.evm.primitives import checksum
from sql.reports.dispute_tables import StoredDispute

MOST_SENDER_CHARS = 80
MOST_STATEMENT_CHARS = 2_000

DisputeOutcome = Literal["open", "unchanged", "changed", "failed"]
"""open: the analysis has not ended. unchanged, changed: its verdict, compared with the disputed
one. failed: there is no analysis."""


class DisputeRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A statement on the verdict of a token."""

    sender: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=MOST_SENDER_CHARS,
            description="Name of the sender. Published as it is, and not verified",
            examples=["Example Token team"],
        ),
    ]
    statement: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=MOST_STATEMENT_CHARS,
            description="Plain text, published as it is. It has no influence on the verdict",
            examples=["The owner renounced in block 21043377; please run it again."],
        ),
    ]


class DisputeShown(Shape, frozen=True, kw_only=True):
    """A dispute: the words of its sender, and the analysis that was recorded for it."""

    number: int
    """Number of the dispute."""
    chain: str
    """Slug."""
    contract_address: str
    """Address of the token, with its checksum."""
    filed_at: str
    """Time of filing, ISO 8601 UTC."""
    sender: str
    """Name that the sender gave: any text, not verified."""
    statement: str
    """Statement of the sender: any text, not verified."""
    verdict_before: str
    """Disputed verdict."""
    reasons_before: tuple[str, ...]
    """Reasons of the disputed verdict."""
    block_before: int
    """Block of the disputed report."""
    outcome: DisputeOutcome
    """open: the analysis has not ended. unchanged, changed: its verdict, compared with the disputed
    one. failed: there is no analysis."""
    settled_at: str | None
    """End of the analysis, ISO 8601 UTC. null: open."""
    verdict_after: str | None
    """Verdict of the recorded analysis. null: open or failed."""
    reasons_after: tuple[str, ...] | None
    """Reasons of that verdict. null: open or failed."""
    block_after: int | None
    """Block of the recorded analysis. null: open or failed."""
    signer: str | None
    """Account that signed the evidence pack. null: open, failed, or not signed."""
    failure: str | None
    """Reason why there is no analysis. null: open, or there is one."""


class DisputeList(Shape, frozen=True, kw_only=True):
    """Disputes of the verdicts of one token."""

    chain: str
    """Slug."""
    contract_address: str
    """Address of the token, with its checksum."""
    disputes: tuple[DisputeShown, ...]
    """The newest fifty, newest first."""


def show_dispute(chain: str, dispute: StoredDispute) -> DisputeShown:
    """Render a dispute of a chain, by slug."""
    return DisputeShown(
        number=dispute.dispute_id,
        chain=chain,
        contract_address=checksum(dispute.address),
        filed_at=iso_utc(dispute.filed_at_s),
        sender=dispute.sender,
        statement=dispute.statement,
        verdict_before=dispute.verdict_before,
        reasons_before=dispute.reasons_before,
        block_before=dispute.block_before,
        outcome=_outcome(dispute),
        settled_at=None if dispute.settled_at_s is None else iso_utc(dispute.settled_at_s),
        verdict_after=dispute.verdict_after,
        reasons_after=dispute.reasons_after,
        block_after=dispute.block_after,
        signer=None if dispute.signer is None else checksum(dispute.signer),
        failure=dispute.failure,
    )


def _outcome(dispute: StoredDispute) -> DisputeOutcome:
    if not dispute.is_settled:
        return "open"
    if dispute.verdict_after is None:
        return "failed"
    return "unchanged" if dispute.verdict_after == dispute.verdict_before else "changed"
