"""Responses with files that browsers cache: validated by their digest, compressed once."""

import gzip
import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from litestar import Request, Response

_NOT_MODIFIED = 304


class StaticFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file, ready to be sent."""

    body: bytes
    packed: bytes | None
    """The body compressed by gzip. None: it is compressed already."""
    tag: str
    media_type: str


def make_static_file(body: bytes, media_type: str, *, is_packed: bool = False) -> StaticFile:
    """Build a file from its contents. `is_packed`: its format is a compressed one."""
    return StaticFile(
        body=body,
        packed=None if is_packed else gzip.compress(body, mtime=0),
        tag=f'W/"{hashlib.sha256(body).hexdigest()[:24]}"',
        media_type=media_type,
    )


def send_file(
    request: Request[Any, Any, Any],
    file: StaticFile,
    *,
    kept_s: int,
    headers: Mapping[str, str],
) -> Response[bytes]:
    """Return the file, or 304 if the caller has it. `kept_s`: seconds for which caches need not
    revalidate."""
    sent_headers = {
        **headers,
        "Cache-Control": f"public, max-age={kept_s}",
        "ETag": file.tag,
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("If-None-Match") == file.tag:
        return Response(b"", status_code=_NOT_MODIFIED, headers=sent_headers)
    if file.packed is not None and "gzip" in request.headers.get("Accept-Encoding", ""):
        sent_headers["Content-Encoding"] = "gzip"
        return Response(file.packed, media_type=file.media_type, headers=sent_headers)
    return Response(file.body, media_type=file.media_type, headers=sent_headers)
