"""Rendering of a report or a refusal to the body of one format, for API and command line."""

from typing import Literal, get_args

import msgspec

from analysis.market.token_price import TokenPrice
from analysis.token.contract_clock import ContractClock, Reading, clock_at
from api.formats.amounts import whole_tokens
from api.formats.compat import render_compat
from api.formats.goplus_format import render_goplus
from api.formats.native import render_native
from api.formats.null_reasons import unknowns
from api.formats.shape_building import Shape
from api.formats.shapes import Envelope, Features, NativeFeatures
from api.formats.summary import refuse_summary, render_summary
from config.chains import Chain
from core.errors import InvalidAddressError, TokenRefusedError
from core.primitives import checksum, parse_address
from core.report import Report, ReportRow

Format = Literal["native", "compat", "summary", "goplus", "evidence"]

FORMATS: tuple[Format, ...] = get_args(Format)

HIGHEST_MARKET_CAP_USD = 1e13
HIGHEST_PRICE_USD = 1e9
"""Above either bound the market cap is taken as implausible, and null."""

_ECHOED_CHARS = 128


def render_report(
    report: Report,
    chain: Chain,
    form: Format,
    *,
    now_s: float,
    liquid_above_usd: float,
    has_owner_simulation: bool = False,
    clock: ContractClock | None = None,
    price: TokenPrice | None = None,
) -> bytes:
    """Return the body for an analysed token. Without a clock, the report's is extrapolated to
    now."""
    native = render_native(
        report,
        clock=clock or clock_after(report, chain, now_s=now_s),
        liquid_above_usd=liquid_above_usd,
    )
    if form == "evidence":
        return _render_evidence(report, native, chain)
    if form == "goplus":
        return _encode(render_goplus(report, native))
    address = checksum(report.token.address)
    if form == "summary":
        summary = render_summary(
            report,
            native,
            chain=chain.slug,
            address=address,
            liquid_above_usd=liquid_above_usd,
            has_owner_simulation=has_owner_simulation,
        )
        return _encode(summary)
    features = native if form == "native" else render_compat(report, native)
    envelope = _envelope(chain, address, features, error="", error_code=None)
    return _encode(envelope if price is None else _priced(envelope, price, report.token))


def render_refusal(chain: Chain, address: str, form: Format, error: TokenRefusedError) -> bytes:
    """Return the body for a refused address. `address` is as the caller wrote it."""
    return _render_none(chain, address, form, error=error.reason, error_code=str(error.code))


def render_failure(chain: Chain, address: str, form: Format) -> bytes:
    """Return the body for an analysis that failed on our side."""
    reason = "The analysis failed on our side; try again later."
    return _render_none(chain, address, form, error=reason, error_code="analysis_failed")


def _render_none(chain: Chain, address: str, form: Format, *, error: str, error_code: str) -> bytes:
    shown = _shown(address)
    if form != "summary":
        return _encode(_envelope(chain, shown, None, error=error, error_code=error_code))
    return _encode(
        refuse_summary(chain=chain.slug, address=shown, error=error, error_code=error_code)
    )


def _shown(address: str) -> str:
    """Return the address checksummed; invalid text is echoed, truncated, with undecodable
    characters replaced."""
    try:
        return checksum(parse_address(address))
    except InvalidAddressError:
        return address[:_ECHOED_CHARS].encode(errors="replace").decode()


def clock_after(report: Report, chain: Chain, *, now_s: float) -> ContractClock | None:
    """Return the contract clock read by the analysis, extrapolated to now. None: it was not read.

    The offset between the chain's time and ours is kept.
    """
    token = report.token
    if token.clock_block is None or token.clock_time_s is None:
        return None
    reading = Reading(block_number=token.clock_block, time_s=token.clock_time_s)
    clock = clock_at(reading, block_interval_s=chain.clock_block_time_s)
    return clock.moved_on(max(0, int(now_s) - token.scanned_at_s))


def _envelope(
    chain: Chain, address: str, features: Features, *, error: str, error_code: str | None
) -> Envelope[Features]:
    return Envelope(
        chain=chain.slug,
        contract_address=address,
        features=features,
        error=error,
        error_code=error_code,
        token_usd_price=None,
        market_cap_usd=None,
        price_source=None,
        price_age_seconds=None,
    )


def _priced(
    envelope: Envelope[Features], price: TokenPrice, token: ReportRow
) -> Envelope[Features]:
    circulating = whole_tokens(token.supply_raw - token.burned_raw, decimals=token.decimals)
    cap = price.usd * circulating
    is_plausible = 0 < cap <= HIGHEST_MARKET_CAP_USD and price.usd <= HIGHEST_PRICE_USD
    return msgspec.structs.replace(
        envelope,
        token_usd_price=price.usd,
        market_cap_usd=cap if is_plausible else None,
        price_source=price.source,
        price_age_seconds=price.age_s,
    )


def _encode(body: Shape) -> bytes:
    return msgspec.json.encode(body)


class EvidenceBody(Shape, frozen=True, kw_only=True):
    """What each finding of a report rests on."""

    chain: str
    contract_address: str
    block_number: int
    block_hash: str
    evidence: dict[str, msgspec.Raw]
    """By API field or scenario; simulated calls come as they were sent, so they can be replayed."""
    unknown: dict[str, str]
    """By key of the native format or of a check: why it has no answer."""


def _render_evidence(report: Report, native: NativeFeatures, chain: Chain) -> bytes:
    """Return the evidence of a report, with the reasons for null keys, as JSON."""
    token = report.token
    body = EvidenceBody(
        chain=chain.slug,
        contract_address=checksum(token.address),
        block_number=token.block_number,
        block_hash=token.block_hash,
        evidence={row.key: msgspec.Raw(row.body.encode()) for row in report.evidence},
        unknown=unknowns(report, native),
    )
    return _encode(body)
