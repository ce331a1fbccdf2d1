"""Decoder of pool creation events of all kinds: logs in, pool rows out.

The emitting factory decides the kind; the topic only chooses among that kind's forms, because kinds
share topics.
"""

from collections.abc import Callable, Sequence
from functools import cache

import msgspec
import numpy as np

from config.facts.chain import Dex
from config.facts.pool_family import FAMILIES
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
from core.process.arrays import BoolArray, ByteArray, IndexArray
from core.report.rows import PoolRow
from indexer.decode.forms import PoolForm, TokenListForm, pool_form, token_list_form
from indexer.decode.hex_columns import encode_hex, keys_of
from indexer.decode.log_columns import LogColumns, LogGroup
from indexer.decode.token_lists import FindMinter, find_minters, listed_pools
from indexer.decode.undecoded import UndecodedLogs
from indexer.decode.words import (
    WordPlace,
    is_address,
    is_flag,
    is_small,
    is_tick,
    to_address,
    to_flag,
    to_small,
    to_tick,
)

FORMS: dict[tuple[str, Hash32], PoolForm] = {
    (family.kind, event.form.topic0): pool_form(event)
    for family in FAMILIES
    for event in family.creation
    if not event.lists_tokens
}
"""Every supported creation event of two tokens, by kind and topic 0."""

LIST_FORMS: dict[tuple[str, Hash32], TokenListForm] = {
    (family.kind, event.form.topic0): token_list_form(event)
    for family in FAMILIES
    for event in family.creation
    if event.lists_tokens
}
"""Every supported creation event with a list of tokens, by kind and topic 0."""

CREATION_TOPICS: tuple[Hash32, ...] = tuple(sorted({topic0 for _, topic0 in (*FORMS, *LIST_FORMS)}))

_TOPICS0 = tuple(bytes.fromhex(topic0[2:]) for topic0 in CREATION_TOPICS)


class DecodedPools(msgspec.Struct, frozen=True, kw_only=True):
    """Decoded logs of known factories."""

    pools: list[PoolRow]
    """In chain order."""
    undecoded: UndecodedLogs
    """Creation events of known factories that do not have their shape."""


class PoolDecoder:
    """Decoder for the factories of one chain."""

    def __init__(self, dexes: Sequence[Dex], *, chain_id: int) -> None:
        self._chain_id = chain_id
        self._dexes: dict[bytes, list[Dex]] = {}
        for dex in dexes:
            self._dexes.setdefault(bytes.fromhex(dex.factory[2:]), []).append(dex)

    def decode(self, logs: LogColumns) -> DecodedPools:
        """Return the pools among these logs. Logs of other contracts are ignored."""
        pools: list[PoolRow] = []
        find_minter = cache(lambda: find_minters(logs))
        strays: list[LogGroup] = []
        for group in logs.with_topics(_TOPICS0):
            is_stray = np.zeros(len(group), np.bool_)
            is_pool = np.zeros(len(group), np.bool_)
            for factory, rows in self._rows_of_factories(group).items():
                is_stray[rows] = True
                for dex in self._dexes[factory]:
                    form = _form_of(group, dex)
                    if form is not None:
                        own = _well_formed(group, rows, form)
                        is_pool[own.rows] = True
                        pools += _pool_rows(own.logs, form, dex, chain_id=self._chain_id)
                    for row in _listing(group, rows, dex):
                        found = self._listed(group, row, dex, find_minter)
                        is_pool[row] |= bool(found)
                        pools += found
            is_stray &= ~is_pool
            if is_stray.any():
                strays.append(group.take(is_stray))
        pools.sort(key=_place)
        return DecodedPools(pools=pools, undecoded=UndecodedLogs(tuple(strays)))

    def _listed(
        self, group: LogGroup, row: int, dex: Dex, find_minter: Callable[[], FindMinter]
    ) -> list[PoolRow]:
        form = LIST_FORMS[dex.kind, _topic0(group)]
        return listed_pools(
            group, row, form, dex, chain_id=self._chain_id, find_minter=find_minter()
        )

    def _rows_of_factories(self, group: LogGroup) -> dict[bytes, list[int]]:
        found: dict[bytes, list[int]] = {}
        for row, emitter in enumerate(keys_of(group.address)):
            if emitter in self._dexes:
                found.setdefault(emitter, []).append(row)
        return found


def _place(row: PoolRow) -> tuple[int, int]:
    return row.block_number, row.log_index


class _Own(msgspec.Struct, frozen=True, eq=False):
    """Pools of one kind in a group of logs, and their rows."""

    logs: LogGroup
    rows: IndexArray


def _well_formed(group: LogGroup, rows: list[int], form: PoolForm) -> _Own:
    """Return the logs of a factory that have the form."""
    at = np.array(rows, np.intp)
    logs = group.take(at)
    fits = _is_well_formed(logs, form)
    return _Own(logs, at) if fits.all() else _Own(logs.take(fits), at[fits])


def _listing(group: LogGroup, rows: list[int], dex: Dex) -> list[int]:
    """Return the rows that may be list pools of this kind."""
    form = LIST_FORMS.get((dex.kind, _topic0(group)))
    return rows if form is not None and form.fits(group.shape) else []


def _form_of(group: LogGroup, dex: Dex) -> PoolForm | None:
    """Return the form of the exchange's pools. None: the group's logs do not have it.

    A factory that emits another kind's event is misconfigured: it has no pools.
    """
    form = FORMS.get((dex.kind, _topic0(group)))
    return form if form is not None and form.shape == group.shape else None


def _topic0(group: LogGroup) -> Hash32:
    return Hash32("0x" + group.shape.topic0.hex())


def _is_well_formed(group: LogGroup, form: PoolForm) -> BoolArray:
    fits = np.ones(len(group), np.bool_)
    for place in (form.token0, form.token1, form.pool, form.hooks):
        if place is not None:
            fits &= is_address(place.of(group))
    if form.fee is not None:
        fits &= is_small(form.fee.of(group))
    if form.tick_spacing is not None:
        fits &= is_tick(form.tick_spacing.of(group), low_bit=form.tick_spacing.low_bit)
    if form.stable is not None:
        fits &= is_flag(form.stable.of(group))
    return fits


def _tokens(own: LogGroup, form: PoolForm) -> tuple[list[Address], list[Address]]:
    """Return the columns of token0 and token1."""
    first, second = _addresses(own, form.token0), _addresses(own, form.token1)
    if form.is_unsorted:
        pairs = [sorted(pair) for pair in zip(first, second, strict=True)]
        first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return first, second


def _pool_rows(own: LogGroup, form: PoolForm, dex: Dex, *, chain_id: int) -> list[PoolRow]:
    factory = Address(dex.factory)
    nothing = [None] * len(own)
    tick, hooks = form.tick_spacing, form.hooks
    pools = [factory] * len(own) if form.pool is None else _addresses(own, form.pool)
    pool_ids = nothing if form.pool_id is None else _hashes(form.pool_id.of(own))
    return [
        PoolRow(
            chain_id=chain_id,
            pool_key=pool if pool_id is None else pool_id,
            pool=pool,
            pool_id=pool_id,
            dex=dex.name,
            kind=dex.kind,
            variant=dex.variant,
            factory=factory,
            token0=token0,
            token1=token1,
            fee=fee,
            tick_spacing=tick_spacing,
            stable=stable,
            hooks=None if hook == ZERO_ADDRESS else hook,
            block_number=block_number,
            log_index=log_index,
        )
        for (
            pool,
            pool_id,
            token0,
            token1,
            fee,
            tick_spacing,
            stable,
            hook,
            block_number,
            log_index,
        ) in zip(
            pools,
            pool_ids,
            *_tokens(own, form),
            nothing if form.fee is None else to_small(form.fee.of(own)).tolist(),
            nothing if tick is None else to_tick(tick.of(own), low_bit=tick.low_bit).tolist(),
            nothing if form.stable is None else to_flag(form.stable.of(own)).tolist(),
            nothing if hooks is None else _addresses(own, hooks),
            own.block_number.tolist(),
            own.log_index.tolist(),
            strict=True,
        )
    ]


def _addresses(group: LogGroup, place: WordPlace) -> list[Address]:
    return [Address(text) for text in encode_hex(to_address(place.of(group)))]


def _hashes(words: ByteArray) -> list[Hash32]:
    return [Hash32(text) for text in encode_hex(words)]
