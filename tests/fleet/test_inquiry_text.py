"""Protects values passed between processes: they arrive as they were sent."""

import msgspec
import pytest

from analysis.quotes.exit_quote import ExitQuote, RequestedSize
from analysis.quotes.unsigned_trade import TradeRefusedError, UnsignedTrade
from analysis.replay.evidence_pack import EvidencePackError, PackFile
from assay.service.fleet.inquiry_encoding import (
    INQUIRY_KINDS,
    ExitQuestion,
    HooksQuestion,
    InquiryQuestion,
    LiquidityQuestion,
    PackQuestion,
    TradeQuestion,
    decode_answer,
    decode_question,
    encode_answer,
    encode_failure,
    encode_question,
    kind_of,
    token_of,
)
from assay.service.fleet.run_outcome import FailedElsewhereError
from core.errors import TokenRefusedError, UpstreamError
from core.evm.primitives import RawAmount
from tests.harness.api.sample_reports import OWNER, TOKEN, make_holder, make_report
from tests.harness.api.scripted_quotes import make_check, make_hooks, make_liquidity, make_quote

LARGEST = RawAmount(2**256 - 1)
REPORT = make_report(holders=(make_holder(OWNER, LARGEST),), supply_raw=LARGEST)
TRADE = UnsignedTrade(
    token=TOKEN, side="buy", amount_raw=LARGEST, sender=OWNER, router="Uniswap V2"
)
QUESTIONS = (
    ExitQuestion(report=REPORT, ask=RequestedSize(amount_raw=LARGEST)),
    LiquidityQuestion(report=REPORT),
    HooksQuestion(report=REPORT),
    PackQuestion(token=TOKEN),
    TradeQuestion(report=None, ask=TRADE),
    TradeQuestion(report=REPORT, ask=TRADE),
)
ANSWERS = (
    make_quote(RequestedSize(usd=5.0)),
    make_liquidity(),
    make_hooks(),
    make_check(TRADE),
    PackFile(body=bytes(range(256)), block=make_check(TRADE).block, signer=None),
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_arrives_as_it_was_sent(question: InquiryQuestion) -> None:
    assert decode_question(encode_question(question)) == question
    assert token_of(question) == TOKEN


def test_every_kind_is_tried() -> None:
    assert {kind_of(question) for question in QUESTIONS} == set(INQUIRY_KINDS)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_an_answer_arrives_as_it_was_sent(answer: msgspec.Struct) -> None:
    assert decode_answer(encode_answer(answer), type(answer)) == answer


@pytest.mark.parametrize(
    "error",
    [
        TokenRefusedError(code="not_a_token", reason="no totalSupply"),
        TradeRefusedError(argument="router", reason="no pool there"),
        EvidencePackError(reason="too large"),
        UpstreamError(service="node", reason="cut off"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_refusal_is_raised_as_it_was(error: Exception) -> None:
    with pytest.raises(type(error)) as met:
        decode_answer(encode_failure(error), ExitQuote)
    assert (str(met.value), vars(met.value)) == (str(error), vars(error))


def test_of_a_bug_the_kind_alone_is_told() -> None:
    with pytest.raises(FailedElsewhereError, match="ZeroDivisionError") as met:
        decode_answer(encode_failure(ZeroDivisionError("secret")), ExitQuote)
    assert "secret" not in str(met.value)


@pytest.mark.parametrize(
    "text",
    [b'{"type":"answered","answer":{"block":5}}', b'{"type":"from a later release"}', b"{"],
)
def test_the_answer_of_another_release_is_a_failure(text: bytes) -> None:
    with pytest.raises(FailedElsewhereError, match="another release"):
        decode_answer(text, ExitQuote)
