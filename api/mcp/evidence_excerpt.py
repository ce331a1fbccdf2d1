"""Evidence in a size that a language model can read: outcomes first, the rest on request.

Simulated calls, as they were sent, are nearly all of it: an evidence body of 800 KB has 20 KB of
outcomes.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from api.formats.rendering import EvidenceBody
from api.formats.shape_building import Shape

MOST_CHARS: Final = 20_000
"""Bound on the evidence in an excerpt, and on one part: some 6,000 tokens."""

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
    """Start of the part, in characters."""
    total_chars: int
    """Length of the whole."""
    next_offset: int | None
    """Start of the next part. None: this was the last."""


class EvidenceExcerpt(Shape, frozen=True, kw_only=True):
    """Evidence behind the findings on one token, within a bound."""

    chain: str
    """Slug."""
    contract_address: str
    """The token, with its checksum."""
    block_number: int
    """Block of the findings."""
    block_hash: str
    """Its hash."""
    evidence: dict[str, msgspec.Raw]
    """Evidence by finding or scenario, as far as it fits. Of simulations the outcome alone."""
    left_out: dict[str, int]
    """Keys that are cut or left out -> characters of the whole. Pass one as `key`."""
    keys_left_out: int
    """Further such keys that are not named here; the HTTP route has them."""
    unknown: dict[str, str]
    """Reason why a key has no answer, by key of the native format or of a check."""
    unknown_left_out: int
    """Further ones."""
    part: EvidencePart | None
    """The part selected by `key` and `offset`. None: no key was given."""


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
    """Remove the keys that only a replay needs; return the body and True if nothing was removed."""
    decoded: Any = msgspec.json.decode(whole)
    if not isinstance(decoded, dict) or not _REPLAYED & decoded.keys():
        return bytes(whole), True
    kept = {key: value for key, value in decoded.items() if key not in _REPLAYED}
    return msgspec.json.encode(kept), False
