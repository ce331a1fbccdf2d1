"""Protects inquiries: one process works on each, and values between processes arrive as sent."""

import time
from collections.abc import Iterator
from contextlib import closing

import msgspec
import psycopg
import pytest

from analysis.quotes.exit_quote import ExitQuote, RequestedSize
from analysis.quotes.unsigned_trade import TradeRefusedError, UnsignedTrade
from analysis.replay.evidence_pack import EvidencePackError, PackFile
from assay.service.fleet.inquiry_encoding import (
    INQUIRY_KINDS,
    CensusQuestion,
    ExitQuestion,
    HooksQuestion,
    InquiryQuestion,
    LimitsQuestion,
    LiquidityQuestion,
    OpeningQuestion,
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
from sql.engine.postgres.single_statements import SingleStatements
from sql.fleet import inquiries
from sql.fleet.inquiries import Inquiries
from tests.harness.api.sample_reports import OWNER, TOKEN, make_holder, make_report
from tests.harness.api.scripted_quotes import make_check, make_hooks, make_liquidity, make_quote
from tests.harness.parts.empty_databases import EmptyDatabases

CHAIN, OTHER = 1, 56

KINDS = ("exit", "hooks")


class Deployment:
    """One database, and the processes on it by name."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.statements = SingleStatements(url)
        self.asker = self.process("asker")

    def process(self, name: str) -> Inquiries:
        return Inquiries(self.statements, holder=name)

    def ask(self, *, chain: int = CHAIN, kind: str = "exit", within_s: float = 15.0) -> int:
        number = self.asker.ask(chain, kind, b"?", within_s=within_s)
        assert number is not None
        return number

    def expire(self) -> None:
        """Let all processes have ended a while ago."""
        with psycopg.connect(self.url) as connection:
            connection.execute("update inquiry set expires_at = now() - interval '1 s'")

    def rows(self) -> int:
        with psycopg.connect(self.url) as connection:
            row = connection.execute("select count(*) from inquiry").fetchone()
        return 0 if row is None else int(row[0])


@pytest.fixture
def deployment(empty_databases: EmptyDatabases) -> Iterator[Deployment]:
    with empty_databases.lent() as url:
        opened = Deployment(url)
        with closing(opened.statements):
            yield opened


def taken(process: Inquiries, free: int = 9, chain: int = CHAIN) -> list[int]:
    return sorted(one.inquiry for one in process.take({chain: free}, kinds=KINDS))


def test_each_is_taken_once_the_longest_waiting_first(deployment: Deployment) -> None:
    numbers = [deployment.ask() for _ in range(3)]
    elsewhere = deployment.ask(chain=OTHER)
    one, two = deployment.process("one"), deployment.process("two")
    assert taken(one, 2) == numbers[:2]
    (last,) = two.take({CHAIN: 9, OTHER: 0}, kinds=KINDS)
    assert (last.inquiry, last.chain_id, last.question) == (numbers[2], CHAIN, b"?")
    assert 0 < last.left_s <= 15
    assert taken(two, chain=OTHER) == [elsewhere]
    assert taken(one) == taken(two) == []


def test_what_another_release_asks_is_left_to_it(deployment: Deployment) -> None:
    deployment.ask(kind="unheard of")
    assert taken(deployment.process("one")) == []


def test_an_answer_is_read_by_whoever_asked(deployment: Deployment) -> None:
    first, second = deployment.ask(), deployment.ask()
    one = deployment.process("one")
    taken(one)
    one.answer(second, b"!")
    (answered,) = deployment.asker.answers([first, second])
    assert (answered.inquiry, answered.answer) == (second, b"!")
    assert one.renew([first, second]) == {first}
    deployment.asker.delete(second)
    assert deployment.rows() == 1


def test_a_silent_process_is_taken_over_and_its_answer_is_nobodys(deployment: Deployment) -> None:
    number = deployment.ask()
    one, two, three = (deployment.process(name) for name in ("one", "two", "three"))
    assert taken(one) == [number]
    deployment.expire()
    assert taken(two) == [number]
    assert one.renew([number]) == set()
    one.answer(number, b"late")
    assert deployment.asker.answers([number]) == []
    deployment.expire()
    assert taken(three) == []  # it has ended two processes


def test_who_ends_in_order_gives_back(deployment: Deployment) -> None:
    number = deployment.ask()
    for name in ("one", "two", "three"):
        process = deployment.process(name)
        assert taken(process) == [number]
        process.give_back()


def test_no_more_than_so_many_wait_about_a_chain(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inquiries, "MOST_INQUIRIES", 2)
    deployment.ask(within_s=0.01)
    time.sleep(0.02)  # nobody waits for this one
    deployment.ask()
    number = deployment.ask()
    assert deployment.asker.ask(CHAIN, "exit", b"?", within_s=15.0) is None
    deployment.ask(chain=OTHER)
    one = deployment.process("one")
    taken(one)
    one.answer(number, b"!")
    deployment.ask()


def test_what_nobody_waits_for_is_not_begun_and_goes(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment.ask(within_s=0.01)
    time.sleep(0.02)
    waiting = deployment.ask()
    assert taken(deployment.process("one")) == [waiting]
    deployment.asker.delete_old()
    assert deployment.rows() == 2
    monkeypatch.setattr(inquiries, "_KEPT_S", 0.0)
    deployment.asker.delete_old()
    assert deployment.rows() == 1


# --- inquiry text -------------------------------------------------------------------------------

LARGEST = RawAmount(2**256 - 1)

REPORT = make_report(holders=(make_holder(OWNER, LARGEST),), supply_raw=LARGEST)

TRADE = UnsignedTrade(
    token=TOKEN, side="buy", amount_raw=LARGEST, sender=OWNER, router="Uniswap V2"
)

QUESTIONS = (
    ExitQuestion(report=REPORT, ask=RequestedSize(amount_raw=LARGEST)),
    LiquidityQuestion(report=REPORT),
    HooksQuestion(report=REPORT),
    CensusQuestion(report=REPORT),
    LimitsQuestion(report=REPORT),
    OpeningQuestion(report=REPORT),
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
