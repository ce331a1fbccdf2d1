"""The researched platforms, and the logs and answers that follow from them."""

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from core.evm.primitives import Address


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
CHAINS: dict[int, Chain] = {chain.id: chain for chain in load_chains(None)}
