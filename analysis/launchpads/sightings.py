"""Creation events of launch platforms: the indexed ones, and log searches where the index has no
coverage.

A search needs the token in a topic, so platforms that keep it in the data are seen only where they
are indexed. Only platforms without a registry are searched.
"""

from collections.abc import Iterable, Sequence

import msgspec

from analysis.reads.read_batch import ReadBatch
from config.facts.launchpad import CreationEvent, Launchpad
from core.evm.abi import address_word
from core.evm.primitives import Address
from core.report.rows import LaunchRow
from core.rpc.log_answers import plain_logs
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

_TOPICS = (1, 2, 3)


class LaunchEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A creation event in which a platform announced the token."""

    pad: Launchpad
    emitter: Address
    block_number: int | None
    """None: the log does not contain it."""


class LogSearch(msgspec.Struct, frozen=True, kw_only=True):
    """A log query for every platform that keeps its token in the same topic."""

    topic: int
    platforms: tuple[tuple[Launchpad, CreationEvent], ...]

    @property
    def from_block(self) -> int:
        """First block with announcements."""
        return min(pad.from_block or 0 for pad, _ in self.platforms)


class _Log(msgspec.Struct, frozen=True, rename="camel"):
    address: str
    topics: tuple[str, ...]
    block_number: str | None = None


def indexed(pads: Sequence[Launchpad], rows: Iterable[LaunchRow]) -> tuple[LaunchEvent, ...]:
    """Return the indexed creation events in the order of the platforms; only configured platforms
    count."""
    emitters = {(row.slug, row.emitter): row for row in rows}
    return tuple(
        LaunchEvent(pad=pad, emitter=contract, block_number=row.block_number)
        for pad in pads
        if pad.event
        for contract in pad.contracts
        if (row := emitters.get((pad.slug, contract))) is not None
    )


def searches_for(pads: Iterable[Launchpad]) -> tuple[LogSearch, ...]:
    """Return at most three log queries, whatever the number of platforms."""
    unasked = [pad for pad in pads if not pad.registry and pad.confidence == "seen"]
    searches = (
        LogSearch(
            topic=topic,
            platforms=tuple(
                (pad, event)
                for pad in unasked
                for event in pad.event
                if (event.token_place.source, event.token_place.index) == ("topic", topic)
            ),
        )
        for topic in _TOPICS
    )
    return tuple(search for search in searches if search.platforms)


def is_for_the_index(pad: Launchpad) -> bool:
    """True if a platform can be seen only by the index: no registry, and the token in no topic."""
    in_data = [event for event in pad.event if event.token_place.source == "word"]
    return bool(in_data) and not pad.registry


class SightingRead:
    """The query for logs of the emitters of a search with the token in the topic. A node may refuse
    the range."""

    def __init__(
        self, batch: ReadBatch, search: LogSearch, token: Address, *, to_block: int | None
    ) -> None:
        """`to_block` None: up to the newest block."""
        self._batch = batch
        self._search = search
        self._token = token
        request = _logs_request(search, token, to_block=to_block)
        self._logs = batch.request(request, returns=_decode_logs)

    def read(self, *, height: int) -> tuple[LaunchEvent, ...] | None:
        """Decode the creation events of the token. None: the node did not return them.

        Empty where the emitters begin above `height` (this chain is not the public one).
        """
        search = self._search
        if search.from_block > height:
            return ()
        logs = self._batch[self._logs]
        if logs is None:
            return None
        return tuple(
            LaunchEvent(
                pad=pad,
                emitter=Address(log.address.lower()),
                block_number=None if log.block_number is None else int(log.block_number, 16),
            )
            for pad, event in search.platforms
            for log in logs
            if log.address.lower() in pad.contracts
            and _is_of(event, log, topic=search.topic, token=self._token)
        )


def _logs_request(search: LogSearch, token: Address, *, to_block: int | None) -> RpcRequest:
    topics = sorted({event.topic for _, event in search.platforms})
    skipped: list[None] = [None] * (search.topic - 1)
    where = {
        "address": sorted({contract for pad, _ in search.platforms for contract in pad.contracts}),
        "topics": [topics, *skipped, address_word(token)],
        "fromBlock": hex(search.from_block),
        "toBlock": "latest" if to_block is None else hex(to_block),
    }
    return RpcRequest("eth_getLogs", (where,))


def _decode_logs(answer: RpcAnswer) -> tuple[_Log, ...] | None:
    if isinstance(answer, RpcFault):
        return None
    try:
        return msgspec.json.decode(plain_logs(answer), type=tuple[_Log, ...])
    except ValueError:  # msgspec's errors are ValueErrors, too
        return None


def _is_of(event: CreationEvent, log: _Log, *, topic: int, token: Address) -> bool:
    form = event.form
    count = len(log.topics)
    has_topics = count > topic if form is None else count == form.topics
    return has_topics and (log.topics[0], log.topics[topic]) == (event.topic, address_word(token))
