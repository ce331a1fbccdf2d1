"""The researched platforms, launchpads that list their tokens, and their logs and answers."""

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from assay.demo.anvil import AnvilNode
from assay.demo.compile import load_artifacts
from assay.demo.transaction_pipeline import Pipeline
from config.facts.chain import Chain
from config.facts.launchpad import Catalogue, Launchpad
from core.evm.abi import selector_of
from core.evm.primitives import Address
from tests.harness.built_in_chains import BUILT_IN_CHAINS


def pad_of(curve: str, *contracts: Address) -> Launchpad:
    """The built-in platform with this curve, with its contracts here."""
    pads = [pad for chain in BUILT_IN_CHAINS for pad in chain.launchpads]
    built_in = next(pad for pad in pads if pad.curve == curve and pad.registry)
    (registry, *_) = built_in.registry
    return Launchpad(
        slug=built_in.slug,
        kind="curve",
        curve=built_in.curve,
        contracts=contracts,
        registry=(registry,),
    )


class Announced(msgspec.Struct, frozen=True, kw_only=True):
    """A creation event."""

    chain: int
    platform: str
    topic0: str
    token: str
    topics: int
    words: int
    emitters: tuple[Address, ...]
    needs_registry: bool = False
    """From memory only, so it counts only with the registry's word for it."""

    def log(self, token: Address) -> tuple[list[str], str]:
        """Topics and data of an event that names the token; all else in it is another address."""
        place, at = self.token.split()
        filler = word(other_address("filler"))
        topics = [self.topic0, *["0x" + filler] * (self.topics - 1)]
        words = [filler] * self.words
        if place == "topic":
            topics[int(at)] = "0x" + word(token)
        else:
            words[int(at)] = word(token)
        return topics, "0x" + "".join(words)


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """A registry's read."""

    chain: int
    platform: str
    selector: str
    at: tuple[Address, ...]
    issuer: Address
    record: str
    unknown: str

    def question(self, token: Address) -> str:
        """Calldata of the read."""
        return self.selector + word(token)

    def answer(self, token: Address) -> str:
        """Return the registry's answer for one of its tokens."""
        return _filled(self.record, {"T": token, "I": self.issuer})

    @property
    def unknown_answer(self) -> str | None:
        """Return its answer for any other address. None: it reverts."""
        form, _, count = self.unknown.partition(" ")
        return None if form == "revert" else "0x" + "0" * 64 * int(count)


class Catalogued(msgspec.Struct, frozen=True, kw_only=True):
    """List that can only be read by number."""

    chain: int
    platform: str
    count: str
    entry: str
    at: Address
    record: str

    def answers(self, *tokens: Address) -> dict[str, str]:
        """Return the answers by calldata, entries numbered from 0."""
        entries = {
            self.entry + word(hex(number)): _filled(self.record, {"T": token})
            for number, token in enumerate(tokens)
        }
        return {self.count: "0x" + word(hex(len(tokens))), **entries}


class _Platforms(msgspec.Struct, frozen=True):
    event: tuple[Announced, ...]
    registry: tuple[Recorded, ...]
    catalogue: tuple[Catalogued, ...]


def word(text: str) -> str:
    """A value as 64 hex digits."""
    return text.removeprefix("0x").rjust(64, "0")


def other_address(name: object) -> Address:
    """An address of nobody, the same for the same name."""
    return Address("0x" + hashlib.sha256(repr(name).encode()).hexdigest()[:40])


def _filled(record: str, names: Mapping[str, Address]) -> str:
    known_names = {"A": other_address("another"), **names}
    return "0x" + "".join(word(known_names.get(one, "0x" + one)) for one in record.split())


_LOADED = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("platforms.toml").read_text(encoding="utf-8")),
    _Platforms,
)
EVENTS = _LOADED.event
REGISTRIES = _LOADED.registry
CATALOGUES = _LOADED.catalogue
CHAINS: dict[int, Chain] = {chain.id: chain for chain in BUILT_IN_CHAINS}


STRANGER = other_address("stranger")
LIST = Catalogue(count="length()", entry="entries(uint256)", token_word=2)
FLAT = "A A T A e0 120 6a000000"
"""An entry as several values. As a struct it opens with an offset."""


class Listing:
    """A test contract that answers like a list."""

    def __init__(self, node: AnvilNode) -> None:
        self._sender = node.accounts()[0]
        self._pipeline = Pipeline(node, load_artifacts())
        self.at = self._pipeline.deploy("Recorder", sender=self._sender)
        self.say("recordUnknown(bytes,bool)", b"", True)

    def say(self, signature: str, *values: object) -> None:
        self._pipeline.call(self.at, signature, *values, sender=self._sender)
        self._pipeline.flush()

    def hold(self, entry: str, *tokens: Address, count: int | None = None) -> None:
        """The tokens from number 0 on; `count` None: as many as they are."""
        catalogued = Catalogued(
            chain=1,
            platform="pad",
            count=selector_of(LIST.count),
            entry=selector_of(LIST.entry),
            at=self.at,
            record=entry,
        ).answers(*tokens)
        if count is not None:
            catalogued[selector_of(LIST.count)] = f"0x{count:064x}"
        for question, answer in catalogued.items():
            self.say("record(bytes,bytes)", bytes.fromhex(question[2:]), bytes.fromhex(answer[2:]))


def pad_at(at: Address) -> Launchpad:
    return Launchpad(slug="pad", kind="curve", contracts=(at,), catalogue=LIST)
