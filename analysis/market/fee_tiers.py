"""Fee tiers and tick spacings that a factory has enabled, by its own list or its events.

Configured lists grow old, as owners enable more. A factory's answer is cached for a day; where it
has none, or the node refuses the query, only the configured list is used. Source: v3-core
IUniswapV3Factory, slipstream ICLFactory, Ramses V3 IRamsesV3Factory.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import msgspec

from analysis.market.venues.families.concentrated_venue import tiers_of
from analysis.market.venues.venue_registry import venue_of
from analysis.reads.eth_reads import Log, Reply, decode_logs
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from core.evm.abi import AbiError, decode_bytes, topic_of
from core.evm.primitives import Address
from core.rpc.messages import RpcRequest

_FEE_ENABLED = topic_of("FeeAmountEnabled(uint24,int24)")
_SPACING_ENABLED = topic_of("TickSpacingEnabled(int24,uint24)")

_FRESH_S = 86_400
_MOST = 64
"""Most tiers of one factory that are used."""


class Tiers(msgspec.Struct, frozen=True, kw_only=True):
    """Tiers that one factory has enabled."""

    enabled: tuple[int, ...]
    """Fees in hundredths of a basis point, or tick spacings, depending on the pools' key. Empty:
    the factory returned none."""
    read_at_s: int


def unread(
    dexes: Iterable[Dex],
    known: Mapping[Address, Tiers],
    *,
    covered: frozenset[Address],
    now_s: int,
) -> tuple[Dex, ...]:
    """Return the exchanges whose factories must be queried. `covered`: factories whose pools are
    all indexed."""
    return tuple(
        dex
        for dex in dexes
        if venue_of(dex).tier_key(dex) is not None
        and dex.factory not in covered
        and (dex.factory not in known or known[dex.factory].read_at_s + _FRESH_S <= now_s)
    )


class TierReads:
    """Reads of enabled tiers: one query for the events of all factories, and the lists of some."""

    def __init__(self, batch: ReadBatch, dexes: Sequence[Dex], *, to_block: int | None) -> None:
        """`to_block` None: up to the newest."""
        self._batch = batch
        self._dexes = dexes
        self._logs = (
            batch.request(_events_request(dexes, to_block=to_block), returns=decode_logs)
            if dexes
            else None
        )
        self._lists = {
            dex.factory: batch.call(dex.factory, getter, returns=_decode_list)
            for dex in dexes
            if (getter := venue_of(dex).tier_list) is not None
        }

    def read(self, *, now_s: int) -> dict[Address, Tiers]:
        """Decode the answers, by factory. Raises UpstreamError."""
        listed = {factory: self._batch[each] for factory, each in self._lists.items()}
        logs = None if self._logs is None else self._batch[self._logs]
        return {
            dex.factory: Tiers(
                enabled=tuple(
                    sorted({*listed.get(dex.factory, ()), *_announced(dex, logs or ())})[:_MOST]
                ),
                read_at_s=now_s,
            )
            for dex in self._dexes
        }


def _events_request(dexes: Sequence[Dex], *, to_block: int | None) -> RpcRequest:
    query = {
        "address": list(dict.fromkeys(dex.factory for dex in dexes)),
        "topics": [[_FEE_ENABLED, _SPACING_ENABLED]],
        # The first tiers, enabled with the factory and before its first pool, are well known.
        "fromBlock": hex(min(dex.from_block or 0 for dex in dexes)),
        "toBlock": "latest" if to_block is None else hex(to_block),
    }
    return RpcRequest("eth_getLogs", (query,))


def with_enabled(dexes: Iterable[Dex], known: Mapping[Address, Tiers]) -> tuple[Dex, ...]:
    """Return the exchanges with the tiers that their factories enabled added to the configured
    ones."""
    return tuple(
        _with(dex, (*_known_tiers(dex), *known[dex.factory].enabled))
        if dex.factory in known and known[dex.factory].enabled
        else dex
        for dex in dexes
    )


def with_new(
    dexes: Iterable[Dex], read: Iterable[Dex], known: Mapping[Address, Tiers]
) -> tuple[Dex, ...]:
    """Return the exchanges with tiers that are not in `read`, with the new tiers alone."""
    before = {dex.factory: set(_known_tiers(dex)) for dex in read}
    new = {
        dex: [tier for tier in known[dex.factory].enabled if tier not in before[dex.factory]]
        for dex in dexes
        if dex.factory in known and dex.factory in before
    }
    return tuple(_with(dex, tiers) for dex, tiers in new.items() if tiers)


def _known_tiers(dex: Dex) -> tuple[int, ...]:
    key = venue_of(dex).tier_key(dex)
    return () if key is None else tiers_of(dex, key)


def _with(dex: Dex, tiers: Iterable[int]) -> Dex:
    return msgspec.structs.replace(dex, fee_tiers=tuple(dict.fromkeys(tiers)))


def _decode_list(reply: Reply) -> tuple[int, ...]:
    try:
        values = decode_bytes("(int24[])", reply) if isinstance(reply, bytes) else ()
    except AbiError:
        return ()
    return tuple(each for spacings in values for each in cast("list[int]", spacings) if each > 0)


def _announced(dex: Dex, logs: Sequence[Log]) -> tuple[int, ...]:
    """Return the tiers in a factory's events, which contain fee and spacing, in an order that
    depends on the event."""
    is_by_spacing = venue_of(dex).tier_key(dex) == "tick_spacing"
    found = []
    for log in logs:
        if log.address != dex.factory or len(log.topics) != 3:  # noqa: PLR2004 - both are indexed
            continue
        at = 1 if is_by_spacing is (log.topics[0] == _SPACING_ENABLED) else 2
        found.append(int(log.topics[at], 16))
    return tuple(tier for tier in found if 0 < tier < 1 << 23)
