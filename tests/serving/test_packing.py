"""Protects sent bodies: the caller's preferred coding, a stable tag, and 304 for a known one."""

import gzip

import pytest

from api.serving.cached_answer import CachedAnswer
from api.serving.packing import CODINGS, Coding, choose_coding, compress, pack, unless_known
from core.process import zstd

BODY = b'{"features":' + b"[1,2,3]" * 1_000 + b"}"


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        ("", None),
        ("identity", None),
        ("br", None),
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=1.0, zstd;q=0.5", "gzip"),
        ("zstd;q=0, gzip", "gzip"),
        ("gzip;q=0", None),
        ("gzip ; q=0.3 , identity;q=0.9", None),
        ("*", "zstd"),
        ("*;q=0", None),
        ("zstd;q=0, *", "gzip"),
        ("gzip;q=high", None),
        ("gzip;level=9", "gzip"),
        (",, ;", None),
    ],
)
def test_the_coding_a_caller_likes_best(header: str, coding: Coding | None) -> None:
    assert choose_coding(header.encode()) == coding


def unpack(answer: CachedAnswer) -> bytes:
    if (b"content-encoding", b"gzip") in answer.headers:
        return gzip.decompress(answer.body)
    return zstd.decompress(answer.body)


@pytest.mark.parametrize("coding", CODINGS)
def test_a_compressed_answer_is_the_same_answer(coding: Coding) -> None:
    plain = pack(200, BODY)
    packed = compress(plain, coding)
    assert unpack(packed) == BODY
    assert packed.tag == plain.tag
    headers = dict(packed.headers)
    assert headers[b"content-length"] == str(len(packed.body)).encode()
    assert headers[b"vary"] == b"accept-encoding"
    assert compress(plain, coding) == packed  # byte by byte, whenever it is made


def test_other_bytes_have_another_tag_and_a_refusal_has_none() -> None:
    assert pack(200, BODY).tag == pack(200, BODY).tag
    assert pack(200, BODY).tag != pack(200, BODY + b" ").tag
    refusal = pack(422, b"{}")
    assert refusal.tag is None
    assert refusal.headers == ((b"content-type", b"application/json"), (b"content-length", b"2"))


@pytest.mark.parametrize(
    ("form", "is_known"),
    [
        ("W/{tag}", True),
        ("{tag}", True),  # a weak comparison
        ('"other", W/{tag}', True),
        ("*", True),
        ('W/"other"', False),
        ("", False),
    ],
)
def test_what_the_caller_has_is_not_sent_again(form: str, is_known: bool) -> None:
    plain = pack(200, BODY)
    assert plain.tag is not None
    answer = unless_known(plain, form.format(tag=plain.tag.decode()).encode())
    assert (answer.status, answer.body) == ((304, b"") if is_known else (200, BODY))
    assert (b"etag", b"W/" + plain.tag) in answer.headers
    assert unless_known(pack(422, b"{}"), b"*").status == 422
    assert unless_known(plain, None) is plain
