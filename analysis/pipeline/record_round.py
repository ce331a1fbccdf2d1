"""Track record of the token on the analysed block, and the one read that it may need."""

import msgspec

from analysis.pipeline.chain_context import ChainContext
from config.settings import AnalysisSettings
from core.errors import UpstreamError
from core.evm.primitives import BlockRef
from core.report.report import EvidenceRow
from core.report.track_record import IndexedRecord, RecordThresholds, TrackRecord, has_traders
from core.rpc.headers import decode_header, header_request


def thresholds_of(settings: AnalysisSettings) -> RecordThresholds:
    """Return the thresholds of a deployment."""
    return RecordThresholds(
        age_s=int(settings.established_after_s),
        sellers=settings.established_sellers,
        sellers_per_day=settings.established_sellers_per_day,
        liquidity_usd=settings.established_liquidity_usd,
    )


def may_be_established(context: ChainContext, known: IndexedRecord | None) -> bool:
    """True if the indexed trades suffice, so that age and liquidity decide."""
    return known is not None and has_traders(known, thresholds_of(context.settings))


async def find_creation_time(
    context: ChainContext, known: IndexedRecord | None, *, block: BlockRef
) -> int | None:
    """Return the time of the block that first shows the token, in Unix seconds.

    None: the block is not known, age does not decide, or the node did not answer.
    """
    if known is None or known.created_block is None or not may_be_established(context, known):
        return None
    number = known.created_block
    try:
        (answer,) = await context.node.batch([header_request(number)])
        header = decode_header(answer, request=f"block {number}")
    except UpstreamError:
        return None
    if header is None or header.number != number or header.ref.time_s > block.time_s:
        return None
    return header.ref.time_s


def record_evidence(record: TrackRecord | None) -> tuple[EvidenceRow, ...]:
    """Return the row `track_record`, with the thresholds that were applied. Empty: no record."""
    if record is None:
        return ()
    return (EvidenceRow(key="track_record", body=msgspec.json.encode(record).decode()),)
