"""Reader of one HTTP/1.1 response: bytes in, status, headers and body out. No I/O.

A body of a told length is received where it stays: answers with logs are many megabytes, and copies
of them cost more than all else that receiving does. Source: RFC 9112, sections 4 to 8.
"""

import contextlib
import zlib
from collections.abc import Mapping

import msgspec

_MOST_HEAD = 64 * 1024
"""Bytes of a status line with headers, and of what surrounds a chunk."""
_SMALL_SCRATCH, _LARGE_SCRATCH = 16 * 1024, 256 * 1024
"""Bytes received at once where they do not stay: of a head, and of a body of unknown length."""
_NEWEST = b"HTTP/1.1 "
_REUSED_FROM = 1 << 20
"""Bytes of a body from which on its room is worth keeping: the system takes longer to give as much
than the bytes take to come."""
_HEAD_END = b"\r\n\r\n"
_LINE_END = b"\r\n"
_STATUS_PARTS = 2
_STATUS_DIGITS = 3
_FIRST_FINAL_STATUS = 200
_BODILESS = frozenset({204, 304})
_AUTO_HEADER = 32 + zlib.MAX_WBITS
"""Takes gzip and zlib streams."""


class ResponseError(ValueError):
    """Not a response of HTTP/1, or not a whole one."""


class ResponseTooLongError(ResponseError):
    """The body has more bytes than allowed."""


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A whole response."""

    status: int
    headers: Mapping[str, str]
    """By name in lower case; of one that comes twice, the values joined by commas."""
    body: bytes | bytearray
    """Without the coding of its transfer and content."""


class ResponseReader:
    """State of one response. Fill `buffer()`, tell `received`, until it returns True."""

    def __init__(self, *, most_bytes: int, spare: bytearray | None = None) -> None:
        """Take no longer body. `spare`: the body of an earlier response, whose room is used again
        if nothing refers to its content any more."""
        self._most_bytes = most_bytes
        self._spare = spare
        self._scratch = bytearray(_SMALL_SCRATCH)
        self._pending = bytearray()
        """Received and not read yet: of a head, or around a chunk."""
        self._status = 0
        self._is_newest = False
        """HTTP/1.1: connections are kept unless told otherwise."""
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._filled = 0
        """Bytes of `_body` that have come, where its length is told."""
        self._chunk_left: int | None = None
        """Bytes of the present chunk still to come, the line end behind it included. None: its size
        comes next."""
        self._state = self._read_head
        self._is_done = False
        self.has_begun = False
        """Some byte has come."""

    def buffer(self) -> memoryview:
        """Return where the next bytes go."""
        if self._state == self._read_told:
            return memoryview(self._body)[self._filled :]
        return memoryview(self._scratch)

    def received(self, count: int) -> bool:
        """Take so many bytes from the buffer; return True if the response is complete.

        Raises ResponseError.
        """
        self.has_begun = True
        if self._state == self._read_told:
            self._filled += count
        else:
            self._pending += memoryview(self._scratch)[:count]
        while not self._is_done and self._state():
            pass
        return self._is_done

    def received_end(self) -> None:
        """The sender has ended the connection. Raises ResponseError if that cuts the response
        short."""
        if self._state != self._read_rest:
            reason = "the connection was closed within an answer" if self.has_begun else "no answer"
            raise ResponseError(reason)
        self._is_done = True

    @property
    def can_go_on(self) -> bool:
        """True if the connection may carry another request; known once the response is complete."""
        told = self._headers.get("connection", "").lower()
        is_kept = "close" not in told if self._is_newest else "keep-alive" in told
        return self._is_done and self._state != self._read_rest and is_kept

    def response(self) -> Response:
        """Return the complete response. Raises ResponseError for content that cannot be unpacked,
        or is too long."""
        coding = self._headers.get("content-encoding", "identity").strip().lower()
        body = self._body
        if coding in ("gzip", "x-gzip", "deflate"):
            return Response(status=self._status, headers=self._headers, body=self._inflate(body))
        if coding != "identity":
            message = f"content coding {coding[:20]}"
            raise ResponseError(message)
        return Response(status=self._status, headers=self._headers, body=body)

    # --- states: each returns True if the one that follows can go on at once ----------------------

    def _read_head(self) -> bool:
        end = self._pending.find(_HEAD_END)
        if end < 0:
            self._bound_pending()
            return False
        head = bytes(self._pending[:end])
        self._is_newest = head.startswith(_NEWEST)
        self._status, self._headers = _parse_head(head)
        del self._pending[: end + len(_HEAD_END)]
        if self._status >= _FIRST_FINAL_STATUS:
            self._begin_body()
        return True

    def _begin_body(self) -> None:
        if self._status in _BODILESS:
            self._finish()
        elif "transfer-encoding" in self._headers:
            if self._headers["transfer-encoding"].strip().lower() != "chunked":
                message = "a transfer coding that was not asked for"
                raise ResponseError(message)
            self._scratch = bytearray(_LARGE_SCRATCH)
            self._state = self._read_chunks
        elif "content-length" in self._headers:
            length = _parse_length(self._headers["content-length"])
            self._raise_if_too_long(length)
            early = self._pending[:length]
            self._filled = len(early)
            del self._pending[:length]
            self._body = _room(length, self._spare)
            self._body[: self._filled] = early
            self._state = self._read_told
        else:
            self._scratch = bytearray(_LARGE_SCRATCH)
            self._state = self._read_rest

    def _read_told(self) -> bool:
        if self._filled == len(self._body):
            self._finish()
        return False

    def _read_rest(self) -> bool:
        self._raise_if_too_long(len(self._body) + len(self._pending))
        self._body += self._pending
        self._pending.clear()
        return False

    def _read_chunks(self) -> bool:
        if self._chunk_left is None:
            end = self._pending.find(_LINE_END)
            if end < 0:
                self._bound_pending()
                return False
            size = _parse_hex(bytes(self._pending[:end].partition(b";")[0]))
            del self._pending[: end + len(_LINE_END)]
            self._raise_if_too_long(len(self._body) + size)
            if not size:
                self._state = self._read_trailer
                return True
            self._chunk_left = size + len(_LINE_END)
        payload = max(self._chunk_left - len(_LINE_END), 0)
        part = self._pending[:payload]
        self._body += part
        taken = len(part)
        if len(self._pending) >= self._chunk_left:
            if self._pending[payload : self._chunk_left] != _LINE_END:
                message = "a chunk is longer than told"
                raise ResponseError(message)
            taken, self._chunk_left = self._chunk_left, None
        else:
            self._chunk_left -= taken
        del self._pending[:taken]
        return self._chunk_left is None

    def _read_trailer(self) -> bool:
        end = self._pending.find(_LINE_END)
        if end < 0:
            self._bound_pending()
            return False
        del self._pending[: end + len(_LINE_END)]
        if not end:
            self._finish()
        return True

    def _finish(self) -> None:
        if self._pending:
            message = "more came than the answer"
            raise ResponseError(message)
        self._is_done = True

    # --- bounds -----------------------------------------------------------------------------------

    def _bound_pending(self) -> None:
        if len(self._pending) > _MOST_HEAD:
            message = "endless headers"
            raise ResponseError(message)

    def _raise_if_too_long(self, length: int) -> None:
        if length > self._most_bytes:
            message = f"over {self._most_bytes} bytes"
            raise ResponseTooLongError(message)

    def _inflate(self, body: bytearray) -> bytes:
        unpacker = zlib.decompressobj(_AUTO_HEADER)
        try:
            content = unpacker.decompress(body, self._most_bytes + 1)
        except zlib.error:
            message = "content that cannot be unpacked"
            raise ResponseError(message) from None
        self._raise_if_too_long(len(content))
        if not unpacker.eof:
            message = "content that was cut short"
            raise ResponseError(message)
        return content


def _room(length: int, spare: bytearray | None) -> bytearray:
    if spare is not None and length > _REUSED_FROM:
        with contextlib.suppress(BufferError):  # an answer that is a part of it is in use
            if length < len(spare):
                del spare[length:]
            else:
                spare.extend(bytes(length - len(spare)))
            return spare
    # Zeroed by the system where it is filled: a length that is a lie takes no memory.
    return bytearray(length)


def _parse_head(text: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = text.decode("latin-1").split("\r\n")
    words = first.split(None, _STATUS_PARTS)
    is_known = len(words) >= _STATUS_PARTS and words[0].startswith("HTTP/1.")
    if not is_known or len(words[1]) != _STATUS_DIGITS or not words[1].isdecimal():
        message = "not HTTP"
        raise ResponseError(message)
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            message = "a malformed header"
            raise ResponseError(message)
        key = name.lower()
        headers[key] = f"{headers[key]}, {value.strip()}" if key in headers else value.strip()
    return int(words[1]), headers


def _parse_length(text: str) -> int:
    lengths = {part.strip() for part in text.split(",")}
    if len(lengths) != 1 or not (length := lengths.pop()).isdecimal() or not length.isascii():
        message = "an impossible length"
        raise ResponseError(message)
    return int(length)


def _parse_hex(text: bytes) -> int:
    digits = text.strip()
    if not digits or digits.strip(b"0123456789abcdefABCDEF"):
        message = "an impossible chunk"
        raise ResponseError(message)
    return int(digits, 16)
