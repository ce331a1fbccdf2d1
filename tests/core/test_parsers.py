"""Protects the service from texts that take long to parse: ten times the text, ten times the time.

A parser of text that a caller, a node or a contract chose belongs here.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

import msgspec
import pytest
from litestar.datastructures import Headers

from analysis.reads.eth_reads import decode_text
from api.auth.networks import client_network, forwarded_hops, parse_networks
from api.auth.robots import is_robot
from api.search.query import read_query
from api.serving.packing import choose_coding, pack, unless_known
from api.sign_in.browser import find_cookie
from api.watches.delivery.webhook_address import WebhookRules
from core.errors import AssayError
from core.evm.primitives import parse_address
from core.process.secret import mask_url
from core.rpc.headers import decode_header
from core.rpc.http_transport import parse_retry_after
from core.rpc.messages import RpcFault
from core.rpc.ranges import is_address_refusal, is_range_refusal, parse_suggestion
from core.rpc.wire import decode_answers
from core.text.look_alikes import skeleton_words
from indexer.decode.learned_layouts import learn
from indexer.decode.logs import decode_logs
from tests.harness.api.world import CHAINS

Parse = Callable[[str], object]

SHORT, LONG = 2_000, 20_000
MOST_RATIO = 12
NOISE_S = 0.004
"""Time that no short text exceeds; a quadratic parser takes it several times over."""
EXAMPLES = 40

TRUSTED = parse_networks(["127.0.0.1", "10.0.0.0/8"])
RULES = WebhookRules(allow_http=True, allow_private=False)
EMPTY = pack(200, b"{}")


def in_headers(text: str) -> object:
    return is_robot(Headers({"User-Agent": text}))


def in_forwarded(text: str) -> object:
    return client_network("10.0.0.1", forwarded_hops([text], "forwarded"), trusted=TRUSTED)


def in_forwarded_for(text: str) -> object:
    return client_network("10.0.0.1", forwarded_hops([text], "x-forwarded-for"), trusted=TRUSTED)


def of_fault(check: Callable[[RpcFault], object]) -> Parse:
    """A check of an error as a node's answer brings it."""

    def parse(text: str) -> object:
        body = b'{"id":1,"error":{"code":1,"message":%b}}' % quoted(text)
        (fault,) = decode_answers(body, first_id=1, count=1, service="node")
        assert isinstance(fault, RpcFault)
        return check(fault)

    return parse


def quoted(text: str) -> bytes:
    return b'"%b"' % text.replace("\\", "\\\\").replace('"', '\\"').encode("unicode_escape")


PARSERS: dict[str, tuple[Parse, str]] = {
    "Forwarded": (in_forwarded, '",;=\\ for'),
    "X-Forwarded-For": (in_forwarded_for, "[],:. 1f"),
    "Cookie": (lambda text: find_cookie(text, "assay_session"), '"\\;= assay_session'),
    "Accept-Encoding": (lambda text: choose_coding(text.encode("latin-1")), ",;q=. *"),
    "If-None-Match": (lambda text: unless_known(EMPTY, text.encode("latin-1")), '", *W/'),
    "User-Agent": (in_headers, "bot-/; crawl"),
    "Retry-After": (parse_retry_after, "1 :,eMon"),
    "search": (lambda text: read_query(text, None, CHAINS), "0xa /:.#?onin"),
    "address": (parse_address, "0xa "),
    "webhook": (RULES.check_url, "https:/@[].%#1"),
    "masked URL": (mask_url, "https:/@[].%#?=&"),
    "skeleton": (skeleton_words, "\u0301\u00e9i0-_\u202e"),
    "answers": (
        lambda text: decode_answers(text.encode(), first_id=1, count=2, service="node"),
        '[{"id":1},] ',
    ),
    "header": (
        lambda text: decode_header(msgspec.Raw(text.encode()), request="head"),
        '[{"number":,}]  ',
    ),
    "log": (lambda text: learn(text.encode()), '[{"topics":,}]  0x'),
    "logs": (lambda text: decode_logs(text.encode()), '[{"topics":,}]  0x'),
    "range refusal": (of_fault(is_range_refusal), "max range limited to 1,"),
    "address refusal": (of_fault(is_address_refusal), "specify address required."),
    "suggestion": (
        of_fault(lambda fault: parse_suggestion(fault.message, first=1)),
        "[0x1, 2] range max: limited to 9,k",
    ),
    "string of a contract": (lambda text: decode_text(text.encode()), "\0\x20\x01a"),
}


def units(signs: str, seed: int) -> Iterator[tuple[str, str, str]]:
    """Beginnings, repeated parts and ends of texts made of the signs of a grammar."""
    drawn = random.Random(seed)  # noqa: S311 - the same texts each time
    yield from (("", sign, "") for sign in dict.fromkeys(signs))
    yield from (('{"topics":[', " ", "x"), ('for="', "\\", ""), ("max", "max", ""))
    while True:
        begin, unit, end = (
            "".join(drawn.choices(signs, k=drawn.randint(least, 4))) for least in (0, 1, 0)
        )
        yield begin, unit, end


def seconds_of(parse: Parse, text: str) -> float:
    """Least processor time of three tries."""
    least = float("inf")
    for _ in range(3):
        begun_s = time.thread_time()
        with suppress(AssayError, ValueError, RecursionError):
            parse(text)
        least = min(least, time.thread_time() - begun_s)
    return least


def is_linear(parse: Parse, short: str, long: str) -> bool:
    choose_coding.cache_clear()
    short_s = max(seconds_of(parse, short), NOISE_S / MOST_RATIO)
    return seconds_of(parse, long) <= MOST_RATIO * short_s


@pytest.mark.parametrize("name", PARSERS)
def test_ten_times_the_text_takes_ten_times_the_time(name: str) -> None:
    parse, signs = PARSERS[name]
    for begin, unit, end in islice(units(signs, seed=34), EXAMPLES):
        short, long = (begin + unit * (size // len(unit)) + end for size in (SHORT, LONG))
        # Other work on the machine makes a try slow now and then, never each of four.
        assert any(is_linear(parse, short, long) for _ in range(4)), (begin, unit, end)
