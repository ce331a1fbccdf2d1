"""Operations of callers on their watches, within the limits of their plans."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TypeVar

import structlog

from api.auth.keys import Caller
from api.deps import ApiDeps
from api.error_answers import StoreDownError
from api.served_chains import find_chain
from api.watches.delivery.webhook_address import WebhookRefusedError, WebhookRules
from api.watches.delivery.webhook_signature import new_secret
from api.watches.message_body import MessageRenderer
from api.watches.watch_refusals import NoSuchWatchError, WatchLimitError, wrong_value
from api.watches.watch_shapes import (
    MOST_TOKENS_AT_ONCE,
    CreatedWatch,
    DeliveryView,
    TokensOfChain,
    WatchedTokenList,
    WatchedTokenView,
    WatchRequest,
    WatchView,
    view_delivery,
    view_watch,
)
from config.plans import Plan
from core.errors import InvalidAddressError, StoreError
from core.evm.primitives import Address, checksum, parse_address
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store
from sql.watches.watch_events import write_test_message
from sql.watches.watch_messages import list_deliveries, list_last
from sql.watches.watches import (
    NewWatch,
    Watch,
    add_tokens,
    count_tokens,
    count_watched,
    create_watch,
    find_watch,
    list_tokens,
    list_watches_of,
    pause_watch,
    remove_tokens,
    remove_watch,
    resume_watch,
)

MOST_DELIVERIES = 100
"""Messages of a watch that are shown in one answer."""

_TOKENS_AT_ONCE = 1_000

_LOG = structlog.get_logger(__name__)

T = TypeVar("T")

Keys = Collection[int]
"""Ids of keys: the calling one, or those of an account."""

_ByChain = list[tuple[int, list[Address]]]


class WatchBook:
    """The watches of a deployment. Raises the errors of `watch_refusals`, InvalidInputError,
    ChainNotServedError, StoreDownError."""

    def __init__(self, deps: ApiDeps, store: Store, rules: WebhookRules) -> None:
        self._deps = deps
        self._store = store
        self._rules = rules
        self._ids = {chain.slug: chain.id for chain in deps.chains}
        self._slugs = {chain.id: chain.slug for chain in deps.chains}
        self._renderer = MessageRenderer(deps.chains)

    async def create(self, caller: Caller, request: WatchRequest) -> CreatedWatch:
        """Make a watch; its secret is only in this answer."""
        name = request.name.strip()
        if not name or not name.isprintable():
            raise wrong_value("name", "A name has a character, and all of them are printable.")
        if request.webhook_url is not None:
            try:
                self._rules.check_url(request.webhook_url)
            except WebhookRefusedError as error:
                raise wrong_value("webhook_url", error.reason) from error
        secret, feed = None if request.webhook_url is None else new_secret(), request.feed
        if feed is not None and request.webhook_url is None:
            raise wrong_value("feed", "It is posted to a webhook; GET /feed/{chain} streams it.")
        new = NewWatch(
            key_id=caller.key.key_id,
            name=name,
            kinds=tuple(dict.fromkeys(request.kinds)),
            url=request.webhook_url,
            secret=secret,
            feed_chain_id=None if feed is None else self._find_chain_id(feed.chain),
            feed_after=None if feed is None else feed.after,
        )
        tokens = self._parse(request.tokens)
        view = await self._write(partial(self._create, caller.plan, new, tokens))
        return CreatedWatch(watch=view, secret=None if secret is None else secret.value)

    async def list_views(self, key_ids: Iterable[int]) -> list[WatchView]:
        """Return the watches of these keys."""
        chosen = list(key_ids)
        return await self._read(
            lambda store: [self._view(store, watch) for watch in list_watches_of(store, chosen)]
        )

    async def find(self, keys: Keys, watch_id: int) -> WatchView:
        """Return one watch."""
        return await self._read(lambda store: self._view(store, _own(store, keys, watch_id)))

    async def pause(self, keys: Keys, watch_id: int) -> WatchView:
        """Stop messages of a watch until it is resumed."""
        return await self._change(keys, watch_id, pause_watch)

    async def resume(self, keys: Keys, watch_id: int) -> WatchView:
        """Continue a watch that was paused or is failing."""
        return await self._change(keys, watch_id, partial(resume_watch, now_s=self._deps.now_s()))

    async def remove(self, keys: Keys, watch_id: int) -> None:
        """Delete a watch."""

        def remove(tx: Transaction) -> None:
            remove_watch(tx, _own(tx, keys, watch_id).id)

        await self._write(remove)

    async def test(self, keys: Keys, watch_id: int) -> WatchView:
        """Queue a test message without content."""

        def test(tx: Transaction, watch_id: int) -> None:
            watch = _own(tx, keys, watch_id)
            has_webhook = watch.url is not None
            write_test_message(tx, watch_id, has_webhook=has_webhook, now_s=self._deps.now_s())

        return await self._change(keys, watch_id, test)

    async def add(self, caller: Caller, watch_id: int, request: TokensOfChain) -> WatchView:
        """Add tokens to a watch."""
        tokens, keys = self._parse((request,)), (caller.key.key_id,)

        def add(tx: Transaction, watch_id: int) -> None:
            self._add(tx, caller.plan, _own(tx, keys, watch_id), tokens)

        return await self._change(keys, watch_id, add)

    async def remove_tokens(self, keys: Keys, watch_id: int, request: TokensOfChain) -> int:
        """Remove tokens from a watch; return how many it had."""
        tokens = self._parse((request,))

        def take(tx: Transaction) -> int:
            _own(tx, keys, watch_id)
            return sum(
                remove_tokens(tx, watch_id, chain_id=chain_id, addresses=addresses)
                for chain_id, addresses in tokens
            )

        return await self._write(take)

    async def tokens(self, keys: Keys, watch_id: int, *, after: int) -> WatchedTokenList:
        """Return the tokens of a watch."""

        def read(store: Readable) -> WatchedTokenList:
            _own(store, keys, watch_id)
            rows = list_tokens(store, watch_id, after=after, at_most=_TOKENS_AT_ONCE)
            return WatchedTokenList(
                tokens=tuple(
                    WatchedTokenView(
                        chain=self._slugs.get(row.chain_id, str(row.chain_id)),
                        contract_address=checksum(row.address),
                        is_awaiting=row.is_awaiting,
                    )
                    for row in rows
                ),
                next_after=rows[-1].token_id if len(rows) == _TOKENS_AT_ONCE else None,
            )

        return await self._read(read)

    async def deliveries(self, keys: Keys, watch_id: int) -> tuple[DeliveryView, ...]:
        """Return the last messages of a watch and how they were delivered, newest first."""

        def read(store: Readable) -> tuple[DeliveryView, ...]:
            _own(store, keys, watch_id)
            rows = list_deliveries(store, watch_id, at_most=MOST_DELIVERIES)
            bodies = {
                message.id: self._renderer.body(message)
                for message in list_last(store, watch_id, at_most=MOST_DELIVERIES)
            }
            return tuple(view_delivery(row, bodies[row.id]) for row in rows if row.id in bodies)

        return await self._read(read)

    def _parse(self, tokens: Sequence[TokensOfChain]) -> _ByChain:
        """Return chain ids and addresses. Raises InvalidInputError, ChainNotServedError."""
        if sum(len(one.addresses) for one in tokens) > MOST_TOKENS_AT_ONCE:
            raise wrong_value("tokens", f"One call has at most {MOST_TOKENS_AT_ONCE} addresses.")
        parsed: _ByChain = []
        for one in tokens:
            chain_id = self._find_chain_id(one.chain)
            try:
                addresses = [parse_address(text) for text in one.addresses]
            except InvalidAddressError as error:
                raise wrong_value("addresses", error.reason) from error
            parsed.append((chain_id, addresses))
        return parsed

    def _find_chain_id(self, named: str | int) -> int:
        """Return the id of a chain. Raises InvalidInputError, ChainNotServedError."""
        return self._ids[find_chain(self._deps, str(named), place="body")]

    def _create(self, plan: Plan, new: NewWatch, tokens: _ByChain, tx: Transaction) -> WatchView:
        most, key_id = plan.watches, new.key_id
        if most and key_id is not None and count_watched(tx, key_id).watches >= most:
            raise WatchLimitError(most=most, of="watches")
        watch_id = create_watch(tx, new, now_s=self._deps.now_s())
        watch = find_watch(tx, watch_id)
        if watch is None:
            raise NoSuchWatchError
        self._add(tx, plan, watch, tokens)
        return self._view(tx, watch)

    def _add(self, tx: Transaction, plan: Plan, watch: Watch, tokens: _ByChain) -> None:
        for chain_id, addresses in tokens:
            add_tokens(
                tx,
                watch.id,
                chain_id=chain_id,
                addresses=addresses,
                now_s=self._deps.now_s(),
            )
        most, key_id = plan.watched_tokens, watch.key_id
        if most and key_id is not None and count_watched(tx, key_id).tokens > most:
            raise WatchLimitError(most=most, of="watched tokens")  # rolls all of it back

    def _view(self, store: Readable, watch: Watch) -> WatchView:
        return view_watch(watch, tokens=count_tokens(store, watch.id), slugs=self._slugs)

    async def _change(
        self, keys: Keys, watch_id: int, change: Callable[[Transaction, int], None]
    ) -> WatchView:
        def write(tx: Transaction) -> WatchView:
            _own(tx, keys, watch_id)
            change(tx, watch_id)
            return self._view(tx, _own(tx, keys, watch_id))

        return await self._write(write)

    async def _read(self, read: Callable[[Readable], T]) -> T:
        def snapshot() -> T:
            with self._store.snapshot() as reader:
                return read(reader)

        return await _translated(snapshot)

    async def _write(self, write: Callable[[Transaction], T]) -> T:
        def transaction() -> T:
            with self._store.transaction() as tx:
                return write(tx)

        return await _translated(transaction)


async def _translated(work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except StoreError as error:
        _LOG.error("watches cannot be read", why=str(error))
        raise StoreDownError from error


def _own(store: Readable, keys: Keys, watch_id: int) -> Watch:
    """Return a watch of one of the keys. Raises NoSuchWatchError."""
    watch = find_watch(store, watch_id) if watch_id < 1 << 63 else None  # the range of row ids
    if watch is None or watch.key_id not in keys:
        raise NoSuchWatchError
    return watch
