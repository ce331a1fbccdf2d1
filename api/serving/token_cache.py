"""LRU cache of tokens: one snapshot each and the answers rendered from it, with one lifetime.

Formats share the entry, so they agree with each other until it ends.
"""

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from api.formats.rendering import Format
from api.formats.token_snapshot import TokenSnapshot
from api.serving.cached_answer import CachedAnswer
from api.serving.packing import Coding
from core.errors import TokenRefusedError
from core.process import zstd
from core.report.report import EvidenceRow

TokenKey = tuple[str, str]
"""Slug of the chain, and address in lower case."""

Variant = tuple[Format, bool, Coding | None]
"""Format, True if it has a price, content coding."""

_REPORT_BYTES = 6_000
_POOL_BYTES = 1_000
_ROW_BYTES = 600
"""Memory of a report without its rows, and of its rows, rounded up: tests/serving/test_cache.py
measures it."""

_MOST_FORGOTTEN = 1_000
"""Dropped tokens that are remembered, for analyses that started earlier."""

_EVIDENCE_LEVEL = 1
"""Level of zstd. Evidence is most of a report, and compresses to a thirtieth in half a
millisecond."""

_EvidenceRows = tuple[EvidenceRow, ...]


class CachedToken:
    """Findings on one token at one moment, and the answers rendered so far."""

    __slots__ = ("_answers", "_evidence", "found", "held_bytes", "priced", "started_as", "until_s")

    def __init__(
        self, found: TokenSnapshot | TokenRefusedError, *, started_as: int, until_s: float
    ):
        self._evidence = b""
        """Rows of the report's evidence, compressed."""
        if isinstance(found, TokenSnapshot):
            self._evidence = _packed(found.report.evidence)
            found = _with_evidence(found, ())
        self.found = found
        """A snapshot without a price, whose report lacks the evidence: see `complete`."""
        self.priced: TokenSnapshot | None = None
        """Snapshot with a price. None: no request has needed one yet."""
        self.started_as = started_as
        """Ordinal of the analysis: the higher one is newer, whichever ends first."""
        self.until_s = until_s
        """End of its life, by the cache's clock."""
        self.held_bytes = len(self._evidence) + _held_by(found)
        """Memory it takes with its answers."""
        self._answers: dict[Variant, CachedAnswer] = {}

    def complete(self, snapshot: TokenSnapshot) -> TokenSnapshot:
        """Return `found` or `priced` with the evidence."""
        rows = zstd.decompress(self._evidence)
        return _with_evidence(snapshot, msgspec.msgpack.decode(rows, type=_EvidenceRows))

    def get(self, variant: Variant) -> CachedAnswer | None:
        """Return an answer, or None if it was not rendered yet."""
        return self._answers.get(variant)

    def keep(self, variant: Variant, answer: CachedAnswer) -> None:
        """Keep an answer, in place of an equal one that was rendered at the same time."""
        self.drop(variant)
        self._answers[variant] = answer
        self.held_bytes += answer.held_bytes

    def drop(self, variant: Variant) -> None:
        """Forget an answer, if it is kept."""
        answer = self._answers.pop(variant, None)
        if answer is not None:
            self.held_bytes -= answer.held_bytes

    def drop_oldest(self) -> bool:
        """Forget the answer that was rendered first. False: there is none."""
        oldest = next(iter(self._answers), None)
        if oldest is not None:
            self.drop(oldest)
        return oldest is not None


class TokenCache:
    """LRU cache of tokens in at most `max_bytes` of memory."""

    def __init__(self, *, max_bytes: int, now_s: Callable[[], float]):
        self._max_bytes = max_bytes
        self._now_s = now_s
        self._kept: OrderedDict[TokenKey, CachedToken] = OrderedDict()
        self._bytes = 0
        self._forgotten = OrderedDict[TokenKey, int]()
        self._forgotten_before = 0

    @property
    def held_bytes(self) -> int:
        """Return the memory of all tokens, in bytes."""
        return self._bytes

    def get(self, token: TokenKey) -> CachedToken | None:
        """Return the token, or None if it is absent or too old."""
        kept = self._kept.get(token)
        if kept is None:
            return None
        if kept.until_s <= self._now_s():
            self._drop(token)
            return None
        self._kept.move_to_end(token)
        return kept

    def put(self, token: TokenKey, made: CachedToken) -> CachedToken:
        """Cache a token, unless an analysis that started later is cached; return the newer one.

        A token that was dropped since its analysis started is returned and not kept.
        """
        kept = self.get(token)
        if kept is not None and kept.started_as > made.started_as:
            return kept
        if made.started_as < self._forgotten.get(token, self._forgotten_before):
            return made
        self._drop(token)
        self._kept[token] = made
        self._bytes += made.held_bytes
        self._shrink()
        return made

    def forget(self, token: TokenKey, *, before: int) -> None:
        """Drop a token, and reject results of analyses that started before the ordinal `before`."""
        self._drop(token)
        self._forgotten.pop(token, None)
        self._forgotten[token] = before
        if len(self._forgotten) > _MOST_FORGOTTEN:
            _, self._forgotten_before = self._forgotten.popitem(last=False)

    def forget_all(self, *, before: int) -> None:
        """Drop all tokens, and reject results of earlier analyses."""
        self._kept.clear()
        self._bytes = 0
        self._forgotten.clear()
        self._forgotten_before = before

    def add(self, token: TokenKey, of: CachedToken, variant: Variant, answer: CachedAnswer) -> None:
        """Keep an answer for as long as the token it is rendered from; do nothing if that is
        gone."""
        if self._kept.get(token) is of:
            self._bytes -= of.held_bytes
            of.keep(variant, answer)
            self._bytes += of.held_bytes
            self._shrink()

    def _shrink(self) -> None:
        """Evict the least recently used tokens until the rest fits.

        The last one loses its answers first: rendering them again costs less than another analysis.
        """
        while self._bytes > self._max_bytes:
            token, kept = next(iter(self._kept.items()))
            self._bytes -= kept.held_bytes
            if len(self._kept) == 1 and kept.drop_oldest():
                self._bytes += kept.held_bytes
            else:
                del self._kept[token]

    def _drop(self, token: TokenKey) -> None:
        kept = self._kept.pop(token, None)
        if kept is not None:
            self._bytes -= kept.held_bytes


def _packed(rows: _EvidenceRows) -> bytes:
    return zstd.compress(msgspec.msgpack.encode(rows), level=_EVIDENCE_LEVEL)


def _with_evidence(snapshot: TokenSnapshot, rows: _EvidenceRows) -> TokenSnapshot:
    report = msgspec.structs.replace(snapshot.report, evidence=rows)
    return msgspec.structs.replace(snapshot, report=report)


def _held_by(found: TokenSnapshot | TokenRefusedError) -> int:
    """Estimate the memory of a snapshot without evidence, or of a refusal, in bytes, from above."""
    if isinstance(found, TokenRefusedError):
        return _ROW_BYTES
    report = found.report
    rows = len(report.holders) + len(report.clock_limits)
    return _REPORT_BYTES + len(report.pools or ()) * _POOL_BYTES + rows * _ROW_BYTES
