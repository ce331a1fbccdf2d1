"""One report in all the forms that pages and sentences need."""

from collections.abc import Mapping

import msgspec

from api.formats.native.shapes import NativeFeatures
from api.formats.prose.proofs import Proofs
from api.formats.rendering import native_of, summary_of
from api.formats.summary.summary import Summary
from api.formats.token_snapshot import TokenSnapshot
from core.evm.primitives import Address
from core.report.report import Report


class RenderedReport(msgspec.Struct, frozen=True, kw_only=True):
    """One report with its native features, summary and evidence, all of one moment."""

    report: Report
    native: NativeFeatures
    summary: Summary
    proofs: Proofs
    locker_names: Mapping[Address, str] = {}
    """Names of the chain's known lockers by their contracts."""
    custodians: frozenset[Address] = frozenset()
    """As in CheckInput."""


def render_for_people(snapshot: TokenSnapshot) -> RenderedReport:
    """Return the forms of a snapshot's report."""
    native = native_of(snapshot)
    return RenderedReport(
        report=snapshot.report,
        native=native,
        summary=summary_of(snapshot, native),
        proofs=Proofs(snapshot.report),
        locker_names=snapshot.chain.locker_names,
        custodians=snapshot.chain.custodians,
    )
