"""One encoded response, as it is cached and sent."""

import msgspec

_OVERHEAD_BYTES = 1_000
"""Memory of an answer in addition to its body; bounds the number of tiny ones."""

FixedHeaders = tuple[tuple[bytes, bytes], ...]


class CachedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One encoded response."""

    status: int
    body: bytes
    headers: FixedHeaders = ()
    """All headers that depend on the body alone, names in lower case."""
    tag: bytes | None = None
    """The opaque part of the ETag, quotes included. None: no ETag."""
    is_final: bool = True
    """False: a part is still pending; a later request will return more."""

    @property
    def held_bytes(self) -> int:
        """Return the memory it takes, in bytes."""
        return len(self.body) + _OVERHEAD_BYTES
