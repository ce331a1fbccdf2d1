"""Token launch platforms as data: who issues their tokens, and how each can be recognised."""

import hashlib
from typing import Annotated, Literal

import msgspec

from config.events import EventForm, EventPlace, parse_event
from config.primitives import Address, Hash32

CurveKind = Literal["curve_a", "curve_b", "curve_c", "curve_d", "curve_e"]
"""Bonding curves that can be read; also the value of `liquidity_type`."""

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
    """An event that the platform's contracts send when they issue a token."""

    declared: str | None = None
    """`Name(type [indexed] name,...)`. None: only its topic 0 is known."""
    token: str | None = None
    """Name of the argument that is the token."""
    creator: str | None = None
    """Name of the argument that is the wallet behind it. None: the event does not tell."""
    topic0: Hash | None = None
    """Where the declaration is not known."""
    token_topic: TopicPlace | None = None
    """Where the declaration is not known: the topic that is the token."""

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
        """How its logs look. None: not known."""
        return None if self.declared is None else parse_event(self.declared)

    @property
    def topic(self) -> Hash32:
        """Topic 0."""
        form = self.form
        return Hash32(self.topic0 or "") if form is None else form.topic0

    @property
    def token_place(self) -> EventPlace:
        """Where a log keeps the token."""
        form = self.form
        if form is None:
            return EventPlace("topic", self.token_topic or 0)
        return form.places[self.token or ""]

    @property
    def creator_place(self) -> EventPlace | None:
        """Where a log keeps the creator. None: nowhere."""
        form = self.form
        return None if form is None or self.creator is None else form.places[self.creator]


class Registry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A read that tells whether the platform issued a token.

    The record is the answer's words; where the answer opens with an offset to a struct, the
    struct's. Without `token_word`, `contract_word` and `set_word` any word that is not zero says
    yes.
    """

    read: RegistryRead
    """`name(address)`, asked with the token."""
    at: tuple[Address, ...] = ()
    """Who is asked. Empty: the platform's contracts."""
    words: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1
    """The record's length at least; a shorter answer is none."""
    token_word: WordSource | None = None
    """This word is the token itself."""
    contract_word: WordSource | None = None
    """This word is one of the platform's contracts."""
    set_word: WordSource | None = None
    """This word is not zero."""
    denies_by: Literal["zero", "revert"] = "zero"
    """What it does for a token it does not know. A revert of one that says zero is no answer."""
    confidence: Confidence = "seen"
    """recalled: from memory only. It then has to show that it does not know everything."""

    def __post_init__(self) -> None:
        places = (self.token_word, self.contract_word, self.set_word)
        if any(place is not None and place >= self.words for place in places):
            message = f"a word is looked for behind the {self.words} words of the record"
            raise ValueError(message)


class Catalogue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A platform's list of its tokens that can only be asked by number."""

    count: Getter
    """`name()`, how many entries there are."""
    entry: CatalogueEntry
    """`name(uint256)`, one of them, counted from 0 or from 1."""
    token_word: WordSource
    """Of an entry, the word that is the token."""


class Launchpad(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One launch platform on one chain, or one generation of its contracts."""

    slug: Slug
    """Several entries may share one: it names the platform, not a product line."""
    kind: Literal["curve", "direct"]
    """curve: sells the token on a bonding curve first. direct: seeds an ordinary pool at once."""
    contracts: Annotated[tuple[Address, ...], msgspec.Meta(min_length=1)]
    """Who sends the events, and is asked where a registry names nobody else."""
    curve: CurveKind | None = None
    """How the curve is read. None: it cannot be, or there is none."""
    event: tuple[CreationEvent, ...] = ()
    registry: tuple[Registry, ...] = ()
    catalogue: Catalogue | None = None
    """What the contracts are asked where no registry knows a token by its address."""
    getter: Getter | None = None
    """A read of the token that names who issued it. Anybody can answer it, so whoever is named
    has to confirm the token in the first registry's own form."""
    clones_of: tuple[Address, ...] = ()
    """Implementations whose minimal clones are its tokens, where no registry says otherwise."""
    code_hashes: tuple[Hash, ...] = ()
    """keccak256 of its tokens' whole runtime code, where no registry says otherwise."""
    suffixes: tuple[Suffix, ...] = ()
    """Last digits of its tokens' addresses. Anybody can mine them: the last resort."""
    from_block: Height | None = None
    """At or before its first token. None: unknown."""
    confidence: Confidence = "seen"
    """recalled: from memory only. Its events then count only with its registry's word for them."""

    @property
    def subject(self) -> str:
        """Names the coverage of its events; another set of events or emitters has another name."""
        told = [*self.contracts, *(f"{one.topic}{one.token_place}" for one in self.event)]
        return f"launches:{self.slug}:{hashlib.sha256('|'.join(told).encode()).hexdigest()[:12]}"
