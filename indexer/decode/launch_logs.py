"""Decoder of the creation events of launch platforms: logs in, launch rows out.

Only logs of the platform's contracts count, as forks of a platform emit identical events. The
shapes of the events are configuration (`[[launchpad.event]]`), so a new platform needs no new code.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from config.facts.launchpad import CreationEvent, Launchpad
from core.evm.event_signatures import EventPlace
from core.evm.primitives import Address, Hash32
from core.process.arrays import BoolArray
from core.report.rows import LaunchRow
from indexer.decode.hex_columns import encode_hex, keys_of
from indexer.decode.log_columns import HASH_BYTES, WORD_BYTES, LogColumns, LogGroup, LogShape
from indexer.decode.undecoded import UndecodedLogs
from indexer.decode.words import WordPlace, is_address, to_address

_NO_HASH = "0x" + "00" * HASH_BYTES


class DecodedLaunches(msgspec.Struct, frozen=True, kw_only=True):
    """Decoded logs of known launch platforms."""

    launches: list[LaunchRow]
    """In chain order; if two platforms claim one log, both rows."""
    undecoded: UndecodedLogs
    """Creation events of known platforms that do not have their shape."""


class LaunchDecoder:
    """Decoder for the launch platforms of one chain."""

    def __init__(self, launchpads: Sequence[Launchpad], *, chain_id: int) -> None:
        self._chain_id = chain_id
        self._claims: dict[bytes, dict[bytes, list[tuple[str, CreationEvent]]]] = {}
        """Platforms that emit the event, with its form, by topic 0 and emitter."""
        for pad in launchpads:
            for event in pad.event:
                by_emitter = self._claims.setdefault(bytes.fromhex(event.topic[2:]), {})
                for contract in pad.contracts:
                    claims = by_emitter.setdefault(bytes.fromhex(contract[2:]), [])
                    if (pad.slug, event) not in claims:
                        claims.append((pad.slug, event))
        self.topics: tuple[Hash32, ...] = tuple(
            sorted({event.topic for pad in launchpads for event in pad.event if pad.contracts})
        )

    def decode(self, logs: LogColumns) -> DecodedLaunches:
        """Return the launches among these logs. Logs of other contracts are ignored."""
        launches: list[LaunchRow] = []
        strays: list[LogGroup] = []
        for group in logs.with_topics(self._claims):
            by_emitter = self._claims[group.shape.topic0]
            is_stray = np.zeros(len(group), np.bool_)
            is_launch = np.zeros(len(group), np.bool_)
            for row, emitter in enumerate(keys_of(group.address)):
                is_stray[row] = emitter in by_emitter
            own = np.flatnonzero(is_stray)
            for emitter in set(keys_of(group.address[own])):
                key = np.frombuffer(emitter, np.uint8)
                rows = own[(group.address[own] == key).all(axis=1)]
                for slug, event in by_emitter[emitter]:
                    if not _has_shape(event, group.shape):
                        continue
                    part = group.take(rows)
                    fits = _is_well_formed(event, part)
                    is_launch[rows[fits]] = True
                    launches += _launch_rows(
                        part.take(fits), event, slug=slug, chain_id=self._chain_id
                    )
            is_stray &= ~is_launch
            if is_stray.any():
                strays.append(group.take(is_stray))
        launches.sort(key=_place)
        return DecodedLaunches(launches=launches, undecoded=UndecodedLogs(tuple(strays)))


def _place(row: LaunchRow) -> tuple[int, int, str]:
    return row.block_number, row.log_index, row.slug


def _has_shape(event: CreationEvent, shape: LogShape) -> bool:
    form = event.form
    if form is None:
        return shape.topics > event.token_place.index
    words, rest = divmod(shape.data_size, WORD_BYTES)
    has_words = words >= form.words if form.is_open else words == form.words
    return shape.topics == form.topics and has_words and rest == 0


def _is_well_formed(event: CreationEvent, group: LogGroup) -> BoolArray:
    fits = is_address(_word_place(event.token_place).of(group))
    if event.creator_place is not None:
        fits &= is_address(_word_place(event.creator_place).of(group))
    return fits


def _launch_rows(
    group: LogGroup, event: CreationEvent, *, slug: str, chain_id: int
) -> list[LaunchRow]:
    creators: list[Address] | list[None] = (
        [None] * len(group)
        if event.creator_place is None
        else _addresses(group, event.creator_place)
    )
    return [
        LaunchRow(
            chain_id=chain_id,
            token=token,
            slug=slug,
            emitter=Address(emitter),
            creator=creator,
            tx_hash=None if tx_hash == _NO_HASH else Hash32(tx_hash),
            block_number=block_number,
            log_index=log_index,
        )
        for token, emitter, creator, tx_hash, block_number, log_index in zip(
            _addresses(group, event.token_place),
            encode_hex(group.address),
            creators,
            encode_hex(group.tx_hash),
            group.block_number.tolist(),
            group.log_index.tolist(),
            strict=True,
        )
    ]


def _addresses(group: LogGroup, place: EventPlace) -> list[Address]:
    return [Address(text) for text in encode_hex(to_address(_word_place(place).of(group)))]


def _word_place(place: EventPlace) -> WordPlace:
    return WordPlace(place.source, place.index)
