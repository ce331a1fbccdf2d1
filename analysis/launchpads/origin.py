"""First read batch of a token's issuer: creation events, registries, lists, and the issuer that the
token itself names.

`begin` chooses the reads, and `OriginReads` makes them and decodes the answers to an
`OriginEvidence`, from which `verdict.py` concludes.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from analysis.launchpads import catalogues, registries, sightings
from analysis.launchpads.catalogues import CatalogueRead, CatalogueSearch
from analysis.launchpads.registries import RegistryQuestion, RegistryReads, RegistryRecord, reply_to
from analysis.launchpads.sightings import LaunchEvent, LogSearch, SightingRead
from analysis.reads.eth_reads import Reply, decode_address
from analysis.reads.read_batch import ReadBatch
from config.facts.launchpad import Launchpad
from core.evm.primitives import ZERO_ADDRESS, Address
from core.report.rows import LaunchRow

Signal = Literal["event", "registry", "code", "getter", "address"]


class OriginQuestions(msgspec.Struct, frozen=True, kw_only=True):
    """The reads about one token in the first batch."""

    token: Address
    pads: tuple[Launchpad, ...]
    """Platforms of the chain. Where several know a token, the first one counts."""
    seen: tuple[LaunchEvent, ...]
    """Indexed creation events of the token."""
    questions: tuple[RegistryQuestion, ...]
    claims: tuple[Launchpad, ...]
    """Platforms whose tokens have a getter for their issuer."""
    walks: tuple[CatalogueSearch, ...]
    searches: tuple[LogSearch, ...]
    unasked: tuple[str, ...]
    """Platforms that only the index can see, where it does not cover all of their past; and those
    whose lists this node cannot search."""


class OriginEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Results of the first batch."""

    token: Address
    pads: tuple[Launchpad, ...]
    sightings: tuple[LaunchEvent, ...]
    records: tuple[RegistryRecord, ...]
    listed: tuple[CatalogueSearch, ...]
    """Lists that contain the token."""
    denied: tuple[Launchpad, ...]
    """Platforms whose registries do not know the token."""
    unread: tuple[str, ...]
    """Reads that failed because of the node."""
    unread_pads: tuple[Launchpad, ...]
    unasked: tuple[str, ...]
    """Unread sources without a full index: as in Inquiry, and lists too long to search."""
    claims: tuple[RegistryQuestion, ...]
    """Queries of issuers that the token itself names and that are not configured."""

    @property
    def proof(self) -> tuple[Launchpad, Signal, Address] | None:
        """Return the platform that an event or a registry proves, the signal, and the contract that
        proves it.

        None: neither does. An event that was configured from memory only counts together with a
        registry's record.
        """
        recorded = [one.question.pad for one in self.records]
        for sighting in self.sightings:
            if sighting.pad.confidence == "seen" or sighting.pad in recorded:
                return sighting.pad, "event", sighting.emitter
        for record in self.records:
            return record.question.pad, "registry", record.question.at
        for walk in self.listed:
            return walk.pad, "registry", walk.at
        return None


def begin(
    pads: Sequence[Launchpad],
    token: Address,
    launches: Sequence[LaunchRow],
    covered: frozenset[str],
    *,
    can_walk: bool = True,
) -> OriginQuestions:
    """Choose the reads of the first batch.

    `covered`: subjects of platforms whose events up to our tip are all in the index. Where
    an indexed event settles it, only the registries of platforms that announced the token are read.
    `can_walk`: the node supports code overrides, without which no list is searched.
    """
    seen = sightings.indexed(pads, launches)
    is_settled = any(one.pad.confidence == "seen" for one in seen)
    uncovered = [pad for pad in pads if pad.subject not in covered]
    walks = () if is_settled else catalogues.walks_through(pads)
    return OriginQuestions(
        token=token,
        pads=tuple(pads),
        seen=seen,
        questions=registries.questions_to(
            dict.fromkeys(one.pad for one in seen) if is_settled else pads
        ),
        claims=() if is_settled else tuple(pad for pad in pads if pad.getter and pad.registry),
        walks=walks if can_walk else (),
        searches=() if is_settled else sightings.searches_for(uncovered),
        unasked=(
            *(pad.slug for pad in uncovered if sightings.is_for_the_index(pad)),
            *(walk.pad.slug for walk in walks if not can_walk),
        ),
    )


class OriginReads:
    """The reads of the first batch."""

    def __init__(self, batch: ReadBatch, inquiry: OriginQuestions, *, to_block: int | None) -> None:
        """`to_block` None: logs up to the newest block."""
        token = inquiry.token
        self._batch = batch
        self._inquiry = inquiry
        self._registries = [
            (question, RegistryReads(batch, question, token)) for question in inquiry.questions
        ]
        self._claims = [(pad, batch.call(token, pad.getter or "")) for pad in inquiry.claims]
        self._walks = [(walk, CatalogueRead(batch, walk, token)) for walk in inquiry.walks]
        self._searches = [
            (search, SightingRead(batch, search, token, to_block=to_block))
            for search in inquiry.searches
        ]

    def read(self, *, height: int) -> OriginEvidence:
        """Decode the answers, as of the block at this height."""
        inquiry = self._inquiry
        words = [(question, registry.read()) for question, registry in self._registries]
        unread = [
            f"{question.pad.slug}: {question.registry.read}"
            for question, word in words
            if word == "unread"
        ]
        claims: list[RegistryQuestion] = []
        for pad, getter in self._claims:
            named = reply_to(self._batch, getter)
            if named == "unread":
                unread.append(f"{pad.slug}: {pad.getter} of the token")
            elif (claim := _claim(inquiry, pad, named)) is not None:
                claims.append(claim)
        exploration = [(walk, catalogue.read()) for walk, catalogue in self._walks]
        unread += [
            f"{walk.pad.slug}: {walk.catalogue.entry}"
            for walk, finding in exploration
            if finding == "unread"
        ]
        found = list(inquiry.seen)
        for search, events in self._searches:
            sightings = events.read(height=height)
            if sightings is None:
                unread.append(f"creation events: {_names(search)}")
            else:
                found += sightings
        return OriginEvidence(
            token=inquiry.token,
            pads=inquiry.pads,
            sightings=tuple(sorted(found, key=lambda one: inquiry.pads.index(one.pad))),
            records=tuple(word for _, word in words if isinstance(word, RegistryRecord)),
            listed=tuple(walk for walk, finding in exploration if finding == "listed"),
            denied=tuple(question.pad for question, word in words if word == "denied"),
            unread=tuple(unread),
            unasked=(
                *inquiry.unasked,
                *(walk.pad.slug for walk, finding in exploration if finding == "unseen"),
            ),
            unread_pads=(
                *(question.pad for question, word in words if word == "unread"),
                *(walk.pad for walk, finding in exploration if finding == "unread"),
            ),
            claims=tuple(claims),
        )


def _claim(inquiry: OriginQuestions, pad: Launchpad, named: Reply) -> RegistryQuestion | None:
    """Return the query of the issuer that the token names. None: it names none, or one that is
    queried anyway."""
    issuer = decode_address(named)
    queried = {question.at for question in inquiry.questions}
    if issuer is None or issuer in (ZERO_ADDRESS, inquiry.token) or issuer in queried:
        return None
    return RegistryQuestion(pad=pad, registry=pad.registry[0], at=issuer, is_claimed=True)


def _names(search: LogSearch) -> str:
    return ", ".join(dict.fromkeys(pad.slug for pad, _ in search.platforms))
