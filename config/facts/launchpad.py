"""Token launch platforms as data: their contracts, and how to recognise the tokens they issued.

A token is recognised by creation event, registry, catalogue, getter, clone implementation, code
hash or address suffix.
"""

import hashlib
from typing import Annotated, Literal

import msgspec

from core.evm.event_signatures import EventForm, EventPlace, parse_event
from core.evm.primitives import Address, Hash32

CurveKind = Literal["curve_a", "curve_b", "curve_c", "curve_d", "curve_e"]
"""Supported bonding curves; also the value of `liquidity_type`."""

Confidence = Literal["seen", "recalled"]

Slug = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Hash = Annotated[str, msgspec.Meta(pattern=r"^0x[0-9a-f]{64}$")]
RegistryRead = Annotated[str, msgspec.Meta(pattern=r"^\w+\(address\)$")]
Getter = Annotated[str, msgspec.Meta(pattern=r"^\w+\(\)$")]
CatalogueEntry = Annotated[str, msgspec.Meta(pattern=r"^\w+\(uint256\)$")]
Suffix = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{4,8}$")]
WordSource = Annotated[int, msgspec.Meta(ge=0, le=63)]
Height = Annotated[int, msgspec.Meta(ge=0)]
TopicPlace = Annotated[int, msgspec.Meta(ge=1, le=3)]


class CreationEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event that the platform's contracts emit when they issue a token."""

    declared: str | None = None
    """`Name(type [indexed] name,...)`. None: only its topic 0 is known."""
    token: str | None = None
    """Name of the argument that is the token."""
    creator: str | None = None
    """Name of the argument that is the creator's wallet. None: the event has none."""
    topic0: Hash | None = None
    """Set where the declaration is not known."""
    token_topic: TopicPlace | None = None
    """Set where the declaration is not known: index of the topic that is the token."""

    def __post_init__(self) -> None:
        if self.declared is None:
            if self.topic0 is None or self.token_topic is None or self.token or self.creator:
                message = "without declared there must be topic0 and token_topic, and nothing else"
                raise ValueError(message)
            return
        if self.topic0 or self.token_topic:
            message = "topic0 and token_topic are for an event that is not declared"
            raise ValueError(message)
        places = parse_event(self.declared).places
        if self.token not in places:
            message = f"token {self.token} is none of {', '.join(places)}"
            raise ValueError(message)
        if self.creator is not None and self.creator not in places:
            message = f"creator {self.creator} is none of {', '.join(places)}"
            raise ValueError(message)

    @property
    def form(self) -> EventForm | None:
        """Return the layout of its logs. None: not known."""
        return None if self.declared is None else parse_event(self.declared)

    @property
    def topic(self) -> Hash32:
        """Return topic 0."""
        form = self.form
        return Hash32(self.topic0 or "") if form is None else form.topic0

    @property
    def token_place(self) -> EventPlace:
        """Return the location of the token in a log."""
        form = self.form
        if form is None:
            return EventPlace("topic", self.token_topic or 0)
        return form.places[self.token or ""]

    @property
    def creator_place(self) -> EventPlace | None:
        """Return the location of the creator in a log. None: it has none."""
        form = self.form
        return None if form is None or self.creator is None else form.places[self.creator]


class Registry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A view function that returns whether the platform issued a token.

    The record is the words of the return data; where that opens with an offset to a struct, those
    of the struct. Without `token_word`, `contract_word` and `set_word` any nonzero word means yes.
    """

    read: RegistryRead
    """`name(address)`, called with the token."""
    at: tuple[Address, ...] = ()
    """Contracts to call. Empty: the platform's contracts."""
    words: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1
    """Minimum length of the record; a shorter one is no answer."""
    token_word: WordSource | None = None
    """Index of the word that must be the token itself."""
    contract_word: WordSource | None = None
    """Index of the word that must be one of the platform's contracts."""
    set_word: WordSource | None = None
    """Index of the word that must not be zero."""
    denies_by: Literal["zero", "revert"] = "zero"
    """Answer for an unknown token. Where that is zero, a revert is no answer."""
    confidence: Confidence = "seen"
    """recalled: from memory only. It is then also checked to deny some other address."""

    def __post_init__(self) -> None:
        places = (self.token_word, self.contract_word, self.set_word)
        if any(place is not None and place >= self.words for place in places):
            message = f"a word is looked for behind the {self.words} words of the record"
            raise ValueError(message)


class Catalogue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A platform's token list that can be read by index only."""

    count: Getter
    """`name()`, the number of entries."""
    entry: CatalogueEntry
    """`name(uint256)`, one entry, counted from 0 or from 1."""
    token_word: WordSource
    """Index of the entry's word that is the token."""


class Launchpad(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One launch platform on one chain, or one generation of its contracts."""

    slug: Slug
    """Several entries may share one: it names the platform, not a product line."""
    kind: Literal["curve", "direct"]
    """curve: sells the token on a bonding curve first. direct: seeds an ordinary pool at once."""
    contracts: Annotated[tuple[Address, ...], msgspec.Meta(min_length=1)]
    """Emitters of the events; also called where a registry names no other contract."""
    curve: CurveKind | None = None
    """Kind of the bonding curve. None: not supported, or there is none."""
    event: tuple[CreationEvent, ...] = ()
    registry: tuple[Registry, ...] = ()
    catalogue: Catalogue | None = None
    """Read where no registry knows a token by its address."""
    getter: Getter | None = None
    """A getter of the token that names its issuer. Any token can claim one, so the named contract
    has to confirm the token in the first registry's form."""
    clones_of: tuple[Address, ...] = ()
    """Implementations whose minimal clones are its tokens, unless a registry denies it."""
    code_hashes: tuple[Hash, ...] = ()
    """keccak256 of its tokens' whole runtime code, valid unless a registry denies it."""
    suffixes: tuple[Suffix, ...] = ()
    """Last digits of its tokens' addresses. Anybody can mine them: the last resort."""
    from_block: Height | None = None
    """At or before its first token. None: unknown."""
    confidence: Confidence = "seen"
    """recalled: from memory only. Its events then count only if its registry confirms them."""

    @property
    def subject(self) -> str:
        """Return the coverage subject of its events; it changes with the set of events or
        emitters."""
        creation_facts = [*self.contracts, *(f"{one.topic}{one.token_place}" for one in self.event)]
        digest = hashlib.sha256("|".join(creation_facts).encode()).hexdigest()
        return f"launches:{self.slug}:{digest[:12]}"
