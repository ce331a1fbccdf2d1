"""Rendering of a report or a refusal to the body of one format, for API and command line."""

from typing import Literal, get_args

import msgspec

from analysis.market.token_price import TokenPrice
from api.formats.amounts import whole_tokens
from api.formats.goplus_format import render_goplus
from api.formats.native.compat import render_compat
from api.formats.native.native import render_native
from api.formats.native.null_reasons import unknowns
from api.formats.native.shapes import Envelope, Features, NativeFeatures
from api.formats.shape_building import Shape
from api.formats.summary.summary import Summary, refuse_summary, render_summary, with_outcomes
from api.formats.token_snapshot import TokenSnapshot
from config.facts.chain import Chain
from core.errors import InvalidAddressError, TokenRefusedError
from core.evm.primitives import checksum, parse_address
from core.report.report import ReportRow

Format = Literal["native", "compat", "summary", "goplus", "evidence"]

FORMATS: tuple[Format, ...] = get_args(Format)

HIGHEST_MARKET_CAP_USD = 1e13
HIGHEST_PRICE_USD = 1e9
"""Above either bound the market cap is taken as implausible, and null."""

_ECHOED_CHARS = 128


def render_report(snapshot: TokenSnapshot, form: Format) -> bytes:
    """Return the body for an analysed token. Only native and compat have the price."""
    native = native_of(snapshot)
    if form == "evidence":
        return _render_evidence(snapshot, native)
    if form == "goplus":
        return _encode(render_goplus(snapshot.report, native))
    if form == "summary":
        return _encode(summary_of(snapshot, native))
    features = native if form == "native" else render_compat(snapshot.report, native)
    address = checksum(snapshot.report.token.address)
    envelope = _envelope(snapshot.chain, address, features, error="", error_code=None)
    return _encode(_priced(envelope, snapshot.price, snapshot.report.token))


def native_of(snapshot: TokenSnapshot) -> NativeFeatures:
    """Return the features of the native format."""
    return render_native(
        snapshot.report, clock=snapshot.clock, liquid_above_usd=snapshot.liquid_above_usd
    )


def summary_of(snapshot: TokenSnapshot, native: NativeFeatures) -> Summary:
    """Return the summary; `native` are the features of the same snapshot."""
    summary = render_summary(
        snapshot.report,
        native,
        chain=snapshot.chain.slug,
        address=checksum(snapshot.report.token.address),
        liquid_above_usd=snapshot.liquid_above_usd,
        has_owner_simulation=snapshot.has_owner_simulation,
        has_liquidity_check=snapshot.has_liquidity_check,
        custodians=snapshot.chain.custodians,
    )
    return with_outcomes(summary, snapshot.outcomes) if snapshot.outcomes else summary


def render_refusal(chain: Chain, address: str, form: Format, error: TokenRefusedError) -> bytes:
    """Return the body for a refused address. `address` is as the caller wrote it."""
    return _render_none(chain, address, form, error=error.reason, error_code=str(error.code))


def render_failure(chain: Chain, address: str, form: Format) -> bytes:
    """Return the body for an analysis that failed without a fault of the token."""
    reason = "The analysis failed on our side. Try again later."
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
    envelope: Envelope[Features], price: TokenPrice | None, token: ReportRow
) -> Envelope[Features]:
    if price is None:
        return envelope
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
    """Evidence behind each finding of a report."""

    chain: str
    """Slug of the chain, however the request named it."""
    contract_address: str
    """The token's address with the checksum of EIP-55."""
    block_number: int
    """Block of the findings."""
    block_hash: str
    """Its hash, so that simulated calls can be replayed on the same state."""
    evidence: dict[str, msgspec.Raw]
    """Evidence by API field or scenario; simulated calls as they were sent, so they can be
    replayed."""
    unknown: dict[str, str]
    """Reason why a key has no answer, by key of the native format or of a check."""


def _render_evidence(snapshot: TokenSnapshot, native: NativeFeatures) -> bytes:
    """Return the evidence of a report, with the reasons for null keys, as JSON."""
    report, token = snapshot.report, snapshot.report.token
    body = EvidenceBody(
        chain=snapshot.chain.slug,
        contract_address=checksum(token.address),
        block_number=token.block_number,
        block_hash=token.block_hash,
        evidence={row.key: msgspec.Raw(row.body.encode()) for row in report.evidence},
        unknown=unknowns(report, native),
    )
    return _encode(body)
