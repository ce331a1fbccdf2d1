"""Following loop of one chain: keeps the tables equal to the node's canonical chain up to our tip.

Each step (blocks with their rows, checkpoint, coverage, tracked tokens, window) is one transaction,
so a crash loses or doubles nothing. Every failure outside this process is logged once and retried
after a back-off.
"""

import asyncio
import contextlib
import time

import msgspec
import structlog

from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.errors import InternalError, UpstreamError, WrongChainError
from core.evm.primitives import BlockRef
from core.rpc.backoff import backoff_s
from core.rpc.client import RpcClient
from core.rpc.failures import RangeRefusedError
from indexer.head.follower import Follower
from indexer.head.follower_status import FollowStatus, FollowTotals, Publish
from indexer.head.heads import HeadFeed
from sql.engine.store import Store

_FIRST_PAUSE_S = 0.5
_MOST_PAUSE_S = 2.0
"""Most seconds between retries: following resumes within ten seconds after nodes or store are back.
"""

_WRONG_CHAIN_PAUSE_S = 30.0
"""Pause if nodes serve another chain: not an outage, a setting must be changed."""

_log = structlog.get_logger(__name__)


async def follow(
    chain: Chain,
    client: RpcClient,
    store: Store,
    settings: IndexerSettings,
    *,
    stop: asyncio.Event,
    publish: Publish | None = None,
) -> None:
    """Follow until `stop` is set; the running span is completed first.

    Begins after the checkpoint, else at the chain's start block, else at the head. Faults of nodes,
    disk and store are logged, published and retried, none is raised.
    """
    watch = _Watch(chain, publish)
    follower = Follower(chain, client, store, settings)
    async with HeadFeed(client, poll_s=settings.poll_s) as feed:
        at_once = True
        while not stop.is_set():
            try:
                if not follower.is_loaded:
                    await follower.load()
                head = await feed.next(stop=stop, at_once=at_once)
                if head is None:
                    break
                watch.note_head(head.ref, follower.tip)
                async for tip in follower.advance(head):
                    watch.note_tip(tip, follower.totals)
                    if stop.is_set():
                        break
                at_once = False
                watch.note_success(follower.tip)
            except (UpstreamError, RangeRefusedError, InternalError, OSError) as error:
                follower.forget()
                at_once = True
                await _pause(watch.note_failure(error), stop)


class _Watch:
    """Logging and status of a follower: each failure is logged once, and so is its end."""

    def __init__(self, chain: Chain, publish: Publish | None) -> None:
        self._chain = chain
        self._publish = publish
        self._log = _log.bind(chain=chain.slug)
        self._failures = 0
        self._status = FollowStatus(chain_id=chain.id)

    def note_head(self, head: BlockRef, tip: BlockRef | None) -> None:
        """Record the node's head."""
        self._change(head=head, tip=tip)

    def note_tip(self, tip: BlockRef | None, totals: FollowTotals) -> None:
        """Record our tip and the totals, after a step forwards or backwards."""
        self._change(tip=tip, totals=totals, updated_at_s=time.time())

    def note_success(self, tip: BlockRef | None) -> None:
        """Record that our tip is level with the head."""
        if self._failures:
            self._log.info("following resumed", tip=tip and tip.number)
        self._failures = 0
        self._change(tip=tip, updated_at_s=time.time(), last_error=None, is_on_wrong_chain=False)

    def note_failure(self, error: Exception) -> float:
        """Record a failure and return the seconds to pause."""
        reason = str(error)
        self._failures += 1
        is_new = reason != self._status.last_error
        is_on_wrong_chain = isinstance(error, WrongChainError)
        self._change(last_error=reason, is_on_wrong_chain=is_on_wrong_chain)
        if is_new:
            # The log may be on the disk that is full.
            with contextlib.suppress(OSError):
                self._log.error("following paused, retrying", reason=reason)
        if is_on_wrong_chain:
            return _WRONG_CHAIN_PAUSE_S
        return backoff_s(self._failures, first_s=_FIRST_PAUSE_S, most_s=_MOST_PAUSE_S)

    def _change(self, **changes: object) -> None:
        self._status = msgspec.structs.replace(self._status, **changes)
        if self._publish is not None:
            self._publish(self._status)


async def _pause(seconds: float, stop: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return
