"""One report in all the forms that people are told it in."""

import msgspec

from api.formats.proofs import Proofs
from api.formats.shapes import NativeFeatures
from api.formats.summary import Summary
from core.report import Report


class RenderedReport(msgspec.Struct, frozen=True, kw_only=True):
    """One report with its native features, its summary and its evidence, all of one moment."""

    report: Report
    native: NativeFeatures
    summary: Summary
    proofs: Proofs
