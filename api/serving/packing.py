"""HTTP encoding of a body: entity tag, content coding, and the headers that go with them.

Source: RFC 9110, sections 8.8.3 (ETag), 12.5.3 (Accept-Encoding), 13.1.2 (If-None-Match).
"""

import asyncio
import gzip
import hashlib
from functools import lru_cache
from typing import Literal, get_args

import msgspec

from api.serving.cached_answer import CachedAnswer, FixedHeaders
from core.process import zstd

Coding = Literal["zstd", "gzip"]

CODINGS: tuple[Coding, ...] = get_args(Coding)
"""Codings in our order of preference, where the caller has none."""

SMALLEST_COMPRESSED = 1_400
"""Bytes; a smaller body fits into one packet uncompressed."""

_OK = 200
_TAG_BYTES = 12
_GZIP_LEVEL = 6
_ZSTD_LEVEL = 3

_JSON = (b"content-type", b"application/json")

# Specific to one URL and key; clients revalidate with the tag.
_STORED = ((b"cache-control", b"private, no-cache"), (b"vary", b"accept-encoding"))

_PASSING = ((b"cache-control", b"no-store"), (b"vary", b"accept-encoding"))


def pack(status: int, body: bytes) -> CachedAnswer:
    """Return an uncompressed answer. A refusal has no tag: it is short, and not worth caching."""
    if status != _OK:
        return CachedAnswer(status=status, body=body, headers=(_JSON, _length(body)))
    tag = b'"%b"' % hashlib.blake2b(body, digest_size=_TAG_BYTES).hexdigest().encode()
    return CachedAnswer(
        status=status, body=body, tag=tag, headers=(_JSON, _length(body), *_tagged(tag))
    )


def is_worth_compressing(answer: CachedAnswer) -> bool:
    """True for a successful answer that is long enough."""
    return answer.tag is not None and len(answer.body) >= SMALLEST_COMPRESSED


def compress(answer: CachedAnswer, coding: Coding) -> CachedAnswer:
    """Return the answer in a content coding. The tag stays, as it is a weak one."""
    if coding == "gzip":
        body = gzip.compress(answer.body, _GZIP_LEVEL, mtime=0)
    else:
        body = zstd.compress(answer.body, level=_ZSTD_LEVEL)
    tagged = () if answer.tag is None else _tagged(answer.tag)
    headers = (_JSON, _length(body), (b"content-encoding", coding.encode()), *tagged)
    return CachedAnswer(status=answer.status, body=body, tag=answer.tag, headers=headers)


async def pack_once(body: bytes, coding: Coding | None) -> CachedAnswer:
    """Return an answer assembled for one caller: not cached, so without a tag."""
    plain = CachedAnswer(status=_OK, body=body, headers=(_JSON, _length(body), *_PASSING))
    if coding is None or len(body) < SMALLEST_COMPRESSED:
        return plain
    packed = await asyncio.to_thread(compress, plain, coding)
    return msgspec.structs.replace(packed, headers=(*packed.headers, *_PASSING))


def pack_file(body: bytes, *, name: str) -> CachedAnswer:
    """Return a file of zstd for one caller: not cached, so without a tag."""
    named = b'attachment; filename="%b"' % name.encode("ascii")
    headers = ((b"content-type", b"application/zstd"), (b"content-disposition", named))
    return CachedAnswer(status=_OK, body=body, headers=(*headers, _length(body), *_PASSING))


def unless_known(answer: CachedAnswer, if_none_match: bytes | None) -> CachedAnswer:
    """Return the answer, or a 304 if the caller already has it."""
    if if_none_match is None or answer.tag is None:
        return answer
    if answer.tag in if_none_match or if_none_match.strip() == b"*":
        return CachedAnswer(status=304, body=b"", headers=_tagged(answer.tag))
    return answer


@lru_cache(maxsize=256)
def choose_coding(accept_encoding: bytes) -> Coding | None:
    """Return the preferred coding of an Accept-Encoding header. None: uncompressed."""
    likes = dict(map(_like, accept_encoding.decode("latin-1").lower().split(",")))
    best: Coding | None = None
    best_weight = likes.get("identity", 0.0)
    for coding in CODINGS:
        weight = likes.get(coding, likes.get("*", 0.0))
        if weight > 0 and (weight > best_weight or (best is None and weight == best_weight)):
            best, best_weight = coding, weight
    return best


def _like(item: str) -> tuple[str, float]:
    """Parse one coding and its weight, 0 to 1."""
    name, _, parameter = item.partition(";")
    key, _, value = parameter.partition("=")
    if key.strip() != "q":
        return name.strip(), 1.0
    try:
        return name.strip(), float(value)
    except ValueError:
        return name.strip(), 0.0


def _length(body: bytes) -> tuple[bytes, bytes]:
    return b"content-length", b"%d" % len(body)


def _tagged(tag: bytes) -> FixedHeaders:
    return ((b"etag", b"W/" + tag), *_STORED)
