"""Inquiries that need a node, and their answers, as JSON between processes of a fleet."""

from typing import Final, TypeVar, get_args

import msgspec

from analysis.quotes.exit_quote import RequestedSize
from analysis.quotes.unsigned_trade import TradeRefusedError, UnsignedTrade
from analysis.replay.evidence_pack import EvidencePackError
from assay.service.fleet.run_outcome import FailedElsewhereError
from core.errors import RefusalCode, TokenRefusedError, UpstreamError
from core.evm.primitives import Address
from core.report.report import Report

T = TypeVar("T")


class ExitQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="exit"):
    """A quote of a sale of a holding."""

    report: Report
    ask: RequestedSize


class LiquidityQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="liquidity"):
    """The holders of the liquidity."""

    report: Report


class HooksQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="hooks"):
    """The powers of the hooks of its pools."""

    report: Report


class CensusQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="census"):
    """The sales of real holders."""

    report: Report


class LimitsQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="limits"):
    """The limits of its trades."""

    report: Report


class OpeningQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="opening"):
    """The opening of a token without a pool."""

    report: Report


class PackQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="pack"):
    """A new analysis with all its calls."""

    token: Address


class TradeQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="trade"):
    """A simulation of an unsigned trade."""

    report: Report | None
    ask: UnsignedTrade


ReportQuestion = (
    LiquidityQuestion | HooksQuestion | CensusQuestion | LimitsQuestion | OpeningQuestion
)
"""Questions about the token of a report, without more."""

InquiryQuestion = ReportQuestion | ExitQuestion | PackQuestion | TradeQuestion

INQUIRY_KINDS: Final = tuple(str(kind.__struct_config__.tag) for kind in get_args(InquiryQuestion))


class InquiryAnswered(msgspec.Struct, frozen=True, kw_only=True, tag="answered"):
    """An answer."""

    answer: msgspec.Raw


class TokenRefused(msgspec.Struct, frozen=True, kw_only=True, tag="token_refused"):
    """The address is not a token that can be analysed."""

    code: RefusalCode
    reason: str


class TradeRefused(msgspec.Struct, frozen=True, kw_only=True, tag="trade_refused"):
    """The trade cannot be decoded into a call."""

    argument: str
    reason: str


class PackRefused(msgspec.Struct, frozen=True, kw_only=True, tag="pack_refused"):
    """No pack could be recorded."""

    reason: str


class ServiceFailed(msgspec.Struct, frozen=True, kw_only=True, tag="service_failed"):
    """A node or another service did not answer, or not in time."""

    service: str
    reason: str


class InquiryFailed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """An internal error."""

    reason: str


InquiryEnd = (
    InquiryAnswered | TokenRefused | TradeRefused | PackRefused | ServiceFailed | InquiryFailed
)


def kind_of(question: InquiryQuestion) -> str:
    """Return the kind of a question, one of INQUIRY_KINDS."""
    return str(type(question).__struct_config__.tag)


def token_of(question: InquiryQuestion) -> Address:
    """Return the token of a question."""
    match question:
        case PackQuestion(token=token):
            return token
        case TradeQuestion(ask=ask):
            return ask.token
        case _:
            return question.report.token.address


def encode_question(question: InquiryQuestion) -> bytes:
    """Encode a question as JSON."""
    return msgspec.json.encode(question)


def decode_question(text: bytes) -> InquiryQuestion:
    """Decode a question. Raises msgspec.DecodeError for one of another release."""
    question: InquiryQuestion = msgspec.json.decode(text, type=InquiryQuestion)
    return question


def encode_answer(answer: msgspec.Struct) -> bytes:
    """Encode an answer as JSON."""
    return msgspec.json.encode(InquiryAnswered(answer=msgspec.Raw(msgspec.json.encode(answer))))


def encode_failure(error: Exception) -> bytes:
    """Encode the error that took the place of an answer."""
    return msgspec.json.encode(_failure_of(error))


def decode_answer(text: bytes, kind: type[T]) -> T:
    """Decode an answer, or raise the error of the process that worked on it.

    Raises FailedElsewhereError for an internal error there, or the answer of another release.
    """
    try:
        end = msgspec.json.decode(text, type=InquiryEnd)
        if isinstance(end, InquiryAnswered):
            return msgspec.json.decode(end.answer, type=kind)
    except msgspec.DecodeError as error:
        message = f"the answer is of another release: {error}"
        raise FailedElsewhereError(message) from error
    raise _error_of(end)


def _failure_of(error: Exception) -> InquiryEnd:
    match error:
        case TokenRefusedError():
            return TokenRefused(code=error.code, reason=error.reason)
        case TradeRefusedError():
            return TradeRefused(argument=error.argument, reason=error.reason)
        case EvidencePackError():
            return PackRefused(reason=error.reason)
        case UpstreamError():
            return ServiceFailed(service=error.service, reason=error.reason)
        case _:
            # Without its message, which may contain secrets.
            return InquiryFailed(reason=type(error).__name__)


def _error_of(end: InquiryEnd) -> Exception:
    match end:
        case TokenRefused():
            return TokenRefusedError(code=end.code, reason=end.reason)
        case TradeRefused():
            return TradeRefusedError(argument=end.argument, reason=end.reason)
        case PackRefused():
            return EvidencePackError(reason=end.reason)
        case ServiceFailed():
            return UpstreamError(service=end.service, reason=end.reason)
        case _:
            return FailedElsewhereError(f"an inquiry failed: {end}")
