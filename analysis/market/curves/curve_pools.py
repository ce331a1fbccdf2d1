"""Bonding curves as pools of a report: read in the second batch, valued like any other pool.

Trades on a curve are never simulated: its results are None, and no verdict on buying counts it.
Source: the specification, "Pools" and "Liquidity notes".
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from analysis.launchpads.origin import OriginEvidence
from analysis.launchpads.registries import RegistryRecord, reply_to
from analysis.launchpads.verdict import IssuerOrigin
from analysis.market.curves import flap, four_meme, pons_v2, printr, virtuals
from analysis.market.curves.curve import Curve, CurveState, Standing
from analysis.market.liquidity_value import PoolValue, Price, value_pool
from analysis.reads.read_batch import ReadBatch
from config.facts.launchpad import CurveKind
from core.evm.primitives import Address
from core.report.report import EvidenceRow, PoolResultRow

CURVES: Mapping[CurveKind, Curve] = {
    module.CURVE.key: module.CURVE for module in (four_meme, flap, pons_v2, virtuals, printr)
}
"""Every kind of curve that can be read."""


class ValuedCurve(msgspec.Struct, frozen=True, kw_only=True):
    """A curve with its state and its value in USD."""

    kind: CurveKind
    platform: str
    state: CurveState
    value: PoolValue


class CurveReads:
    """The reads of the token's curve that its registry's record does not answer."""

    def __init__(self, batch: ReadBatch, lead: OriginEvidence) -> None:
        self._batch = batch
        self._lead = lead
        self._found = _curve_of(lead)
        calls = () if self._found is None else self._found[0].calls(self._found[1])
        self._replies = [batch.add(each) for each in calls]

    def read(self) -> Standing | None:
        """Return the state of the token's curve. None: it has none, as far as known.

        `unread` also where a platform with curves issued the token and its curve cannot be read, or
        where a fault of the node prevented the read.
        """
        lead = self._lead
        if self._found is not None:
            curve, record = self._found
            replies = [reply_to(self._batch, reply) for reply in self._replies]
            heard = [reply for reply in replies if not isinstance(reply, str)]
            return curve.decode(record, heard) if len(heard) == len(replies) else "unread"
        if lead.proof is not None:
            return "unread" if lead.proof[0].kind == "curve" else None
        return "unread" if any(pad.kind == "curve" for pad in lead.unread_pads) else None


def value(
    lead: OriginEvidence, standing: Standing | None, token: Address, prices: Mapping[Address, Price]
) -> tuple[ValuedCurve, ...]:
    """Value the curve. Empty: there is none to trade on, or its quote has no price."""
    if not isinstance(standing, CurveState) or lead.proof is None:
        return ()
    pad = lead.proof[0]
    if pad.curve is None:
        return ()
    worth = value_pool(
        token=token,
        quote=standing.quote,
        token_reserve_raw=standing.token_reserve_raw,
        quote_reserve_raw=standing.quote_reserve_raw,
        prices=prices,
    )
    if worth is None:
        return ()
    return (ValuedCurve(kind=pad.curve, platform=pad.slug, state=standing, value=worth),)


def may_be_missing(
    standing: Standing | None, origin: IssuerOrigin, *, priceless: Collection[Address]
) -> bool:
    """True if there may be a curve that is not among the pools: one that could not be read, one of
    a platform that was recognised without its registry, or one quoted in a coin that has a price
    which is not known now (`priceless`).

    One whose quote has no price at all is left out like any other pool.
    """
    if isinstance(standing, CurveState):
        return standing.quote in priceless
    return standing == "unread" or origin.signal in ("code", "getter")


def with_curves(
    rows: Sequence[PoolResultRow], curves: Sequence[ValuedCurve], *, min_liquidity_usd: float
) -> tuple[PoolResultRow, ...]:
    """Merge the curves into a report's pool rows, deepest first, as `rows` are already."""
    if not curves:
        return tuple(rows)
    every = [*rows, *(_row(curve, min_liquidity_usd) for curve in curves)]
    return tuple(
        msgspec.structs.replace(row, ordinal=ordinal)
        for ordinal, row in enumerate(sorted(every, key=lambda row: -row.liquidity_usd))
    )


def evidence_of(curves: Sequence[ValuedCurve]) -> tuple[EvidenceRow, ...]:
    """Return how far the curve is on its way to a pool. Empty: there is no curve."""
    return tuple(
        EvidenceRow(
            key="launch_curve",
            body=msgspec.json.encode(
                {
                    "platform": curve.platform,
                    "quote": curve.state.quote,
                    "quote_paid_raw": curve.state.quote_reserve_raw,
                    "quote_target_raw": curve.state.quote_target_raw,
                    "tokens_left_raw": curve.state.token_reserve_raw,
                    "progress": curve.state.progress,
                }
            ).decode(),
        )
        for curve in curves[:1]
    )


def _curve_of(lead: OriginEvidence) -> tuple[Curve, RegistryRecord] | None:
    """Return the kind of the token's curve, and the record it is read from. None: there is none."""
    if lead.proof is None:
        return None
    pad = lead.proof[0]
    record = next((one for one in lead.records if one.question.pad == pad), None)
    if pad.curve is None or record is None:
        return None
    curve = CURVES[pad.curve]
    return (curve, record) if len(record.words) >= curve.words else None


def _row(curve: ValuedCurve, min_liquidity_usd: float) -> PoolResultRow:
    is_deep = curve.value.liquidity_usd > min_liquidity_usd
    message = f"the curve holds no more than {min_liquidity_usd:g} USD"
    return PoolResultRow(
        ordinal=0,
        pool=curve.state.pool,
        pool_id=None,
        kind=curve.kind,
        dex=curve.platform,
        quote=curve.state.quote,
        liquidity_usd=curve.value.liquidity_usd,
        quote_side_usd=curve.value.quote_side_usd,
        buy=None,
        buy_tax=None,
        sell=None,
        sell_tax=None,
        error_code=None if is_deep else "liquidity_too_low",
        error_message=None if is_deep else message,
        is_launchpad=True,
        token_usd=None,
    )
