"""Evidence in a size that a language model can read: what it says first, the rest on request.

Simulated calls, as they were sent, are nearly all of it: an evidence body of 800 KB has 20 KB of
outcomes.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from api.formats.rendering import EvidenceBody
from api.formats.shape_building import Shape

MOST_CHARS: Final = 20_000
"""Bound on what an excerpt shows of the evidence, and on one part: some 6,000 tokens."""

_MOST_OF_ONE: Final = 2_000
_MOST_KEYS: Final = 100

_REPLAYED: Final = frozenset({"request", "calls"})
"""Keys of a simulation that only its replay needs."""


class EvidencePart(Shape, frozen=True, kw_only=True):
    """A part of the evidence for one key, as text: JSON, cut anywhere."""

    key: str
    """Key of the evidence."""
    text: str
    """The part."""
    offset: int
    """Where it starts, in characters."""
    total_chars: int
    """Length of the whole."""
    next_offset: int | None
    """Where the next part starts. None: this was the last."""


class EvidenceExcerpt(Shape, frozen=True, kw_only=True):
    """What the findings of one token rest on, within a bound."""

    chain: str
    """Slug."""
    contract_address: str
    """The token, with its checksum."""
    block_number: int
    """Block that the findings are of."""
    block_hash: str
    """Its hash."""
    evidence: dict[str, msgspec.Raw]
    """By finding or scenario: what fits. Of simulations the outcome alone."""
    left_out: dict[str, int]
    """Keys that are not shown, or not in full: characters of the whole. Ask with `key`."""
    keys_left_out: int
    """Further such keys that are not even named here; the HTTP route has them."""
    unknown: dict[str, str]
    """By key of the native format or of a check: why it has no answer."""
    unknown_left_out: int
    """Further ones."""
    part: EvidencePart | None
    """The part that `key` and `offset` ask for. None: no key was given."""


def excerpt(body: EvidenceBody) -> EvidenceExcerpt:
    """Return the start of all evidence, outcomes before calls, within MOST_CHARS."""
    shown: dict[str, msgspec.Raw] = {}
    left_out: dict[str, int] = {}
    room = MOST_CHARS
    for key, whole in body.evidence.items():
        brief, is_whole = _brief(whole)
        if len(brief) <= min(room, _MOST_OF_ONE):
            shown[key] = msgspec.Raw(brief)
            room -= len(brief) + len(key)
        else:
            is_whole = False
        if not is_whole:
            left_out[key] = len(bytes(whole).decode())
    return _excerpt(body, shown, left_out, part=None)


def excerpt_of(body: EvidenceBody, key: str, *, offset: int) -> EvidenceExcerpt | None:
    """Return a part of the evidence for one key, from `offset` on. None: there is no such key."""
    if key not in body.evidence:
        return None
    text = bytes(body.evidence[key]).decode()
    end = offset + MOST_CHARS
    part = EvidencePart(
        key=key,
        text=text[offset:end],
        offset=offset,
        total_chars=len(text),
        next_offset=end if end < len(text) else None,
    )
    return _excerpt(body, {}, {}, part=part)


def _excerpt(
    body: EvidenceBody,
    shown: Mapping[str, msgspec.Raw],
    left_out: Mapping[str, int],
    *,
    part: EvidencePart | None,
) -> EvidenceExcerpt:
    unknown = {} if part else body.unknown
    return EvidenceExcerpt(
        chain=body.chain,
        contract_address=body.contract_address,
        block_number=body.block_number,
        block_hash=body.block_hash,
        evidence=dict(shown),
        left_out=dict(list(left_out.items())[:_MOST_KEYS]),
        keys_left_out=max(0, len(left_out) - _MOST_KEYS),
        unknown=dict(list(unknown.items())[:_MOST_KEYS]),
        unknown_left_out=max(0, len(unknown) - _MOST_KEYS),
        part=part,
    )


def _brief(whole: msgspec.Raw) -> tuple[bytes, bool]:
    """Return a body without what only its replay needs, and whether that is all of it."""
    decoded: Any = msgspec.json.decode(whole)
    if not isinstance(decoded, dict) or not _REPLAYED & decoded.keys():
        return bytes(whole), True
    kept = {key: value for key, value in decoded.items() if key not in _REPLAYED}
    return msgspec.json.encode(kept), False
