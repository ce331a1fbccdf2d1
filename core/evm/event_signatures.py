"""Parser of event declarations: gives topic 0 and the location of each argument in a log.

Source: Solidity ABI specification, "Events" and "Formal Specification of the Encoding".
"""

import re
from functools import cache
from typing import Literal

import msgspec

from core.evm.keccak import keccak
from core.evm.primitives import Hash32

_DECLARED = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\)")
_STATIC = re.compile(r"address|bool|u?int\d+|bytes\d+")
_DYNAMIC = re.compile(r"string|bytes|.+\[\]")
_LIST = re.compile(rf"(?:{_STATIC.pattern})\[(?P<length>\d*)\]")
_ANONYMOUS_TOPICS = 3
"""Indexed arguments in addition to topic 0."""


class EventPlace(msgspec.Struct, frozen=True):
    """Location of one argument in a log."""

    source: Literal["topic", "word"]
    index: int
    """Topics count from 0, the event signature hash; words are 32-byte words of the data."""


class ListPlace(msgspec.Struct, frozen=True):
    """Location of a list of one-word values, or of static tuples, in a log's data."""

    index: int
    """Word of the first value; of a list of any length, the word with the offset in bytes at which
    its length stands, and its values behind."""
    length: int | None
    """None: the log has it."""
    width: int = 1
    """Words of each value, of which the first counts."""


class EventForm(msgspec.Struct, frozen=True, kw_only=True):
    """Layout of one event's logs."""

    topic0: Hash32
    topics: int
    """Topic 0 included."""
    words: int
    """32-byte words of the data; the minimum where `is_open`."""
    is_open: bool
    """True if dynamic data (text, bytes or lists) follows the words."""
    places: dict[str, EventPlace]
    """Locations by argument name; a member of a tuple is `tuple.member`. Left out: indexed tuples
    and texts, of which a log has only the hash, and dynamic data behind an offset."""
    lists: dict[str, ListPlace]
    """Locations of lists of one-word values, or of static tuples, that are not indexed, by argument
    name."""


class _Argument(msgspec.Struct, frozen=True):
    name: str
    abi_type: str
    is_indexed: bool
    members: tuple["_Argument", ...]
    """Members of a tuple."""

    @property
    def is_dynamic(self) -> bool:
        if self.abi_type.startswith("(") and not self.abi_type.endswith("]"):
            return any(member.is_dynamic for member in self.members)
        return _DYNAMIC.fullmatch(self.abi_type) is not None

    @property
    def is_list(self) -> bool:
        is_plain = all(not one.is_dynamic and not one.is_list for one in self.members)
        return (self.abi_type.endswith(")[]") and is_plain) or (
            _LIST.fullmatch(self.abi_type) is not None
        )

    @property
    def width(self) -> int:
        """Return the words of each value of a list."""
        return sum(member.words for member in self.members) or 1

    @property
    def length(self) -> int | None:
        """Return the number of values in a list. None: any, or no list."""
        match = _LIST.fullmatch(self.abi_type)
        return int(match["length"]) if match and match["length"] else None

    @property
    def words(self) -> int:
        """Return the words in the head: one, except for a static tuple or list."""
        if self.is_dynamic:
            return 1
        return sum(member.words for member in self.members) or self.length or 1


@cache
def parse_event(declared: str) -> EventForm:
    """Parse `Name(type [indexed] name,...)`; a tuple is `(type name,...) name`.

    Raises ValueError, with the reason, for another form.
    """
    match = _DECLARED.fullmatch(declared)
    if match is None:
        message = f"{declared} is not Name(type name,...)"
        raise ValueError(message)
    arguments = _arguments(match["arguments"])
    indexed = [one for one in arguments if one.is_indexed]
    plain = [one for one in arguments if not one.is_indexed]
    if len(indexed) > _ANONYMOUS_TOPICS:
        message = f"{declared} has more than {_ANONYMOUS_TOPICS} indexed arguments"
        raise ValueError(message)
    types = ",".join(one.abi_type for one in arguments)
    return EventForm(
        topic0=Hash32("0x" + keccak(f"{match['name']}({types})".encode()).hex()),
        topics=1 + len(indexed),
        words=sum(one.words for one in plain),
        is_open=any(one.is_dynamic for one in plain),
        places={
            **{
                one.name: EventPlace("topic", at)
                for at, one in enumerate(indexed, start=1)
                if not one.is_dynamic and not one.members and not one.is_list
            },
            **_word_places(plain, start=0, prefix=""),
        },
        lists=_list_places(plain),
    )


def _list_places(arguments: list[_Argument]) -> dict[str, ListPlace]:
    places: dict[str, ListPlace] = {}
    at = 0
    for one in arguments:
        if one.is_list:
            places[one.name] = ListPlace(at, one.length, one.width)
        at += one.words
    return places


def _word_places(
    arguments: tuple[_Argument, ...] | list[_Argument], *, start: int, prefix: str
) -> dict[str, EventPlace]:
    places: dict[str, EventPlace] = {}
    at = start
    for one in arguments:
        if one.members and not one.is_dynamic:
            places |= _word_places(one.members, start=at, prefix=f"{prefix}{one.name}.")
        elif not one.is_dynamic and not one.is_list:
            places[prefix + one.name] = EventPlace("word", at)
        at += one.words
    return places


def _arguments(text: str) -> tuple[_Argument, ...]:
    return tuple(_argument(part) for part in _split(text)) if text else ()


def _argument(text: str) -> _Argument:
    """Parse `type [indexed] name`; the type may be a tuple of arguments or a list of them."""
    body, closing, rest = text.strip().rpartition(")")
    members = _arguments(body.removeprefix("(")) if closing else ()
    words = rest.split()
    if closing:
        suffix = words.pop(0) if words and words[0].startswith("[") else ""
        abi_type = f"({','.join(member.abi_type for member in members)}){suffix}"
    else:
        abi_type = words.pop(0) if words else ""
    is_indexed = words[:1] == ["indexed"]
    names = words[1:] if is_indexed else words
    is_type = members or any(known.fullmatch(abi_type) for known in (_STATIC, _DYNAMIC, _LIST))
    if not is_type or len(names) != 1:
        message = f"{text.strip() or 'nothing'} is not an argument"
        raise ValueError(message)
    return _Argument(names[0], abi_type, is_indexed, members)


def _split(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
