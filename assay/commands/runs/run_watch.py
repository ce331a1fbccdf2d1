"""Work of `assay watch`, on the store, also while a service uses it."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TypeVar

import click
import msgspec

from api.watches.delivery.keep_delivering import rules_of
from api.watches.delivery.webhook_address import WebhookRefusedError
from api.watches.delivery.webhook_signature import new_secret
from api.watches.message_body import MessageRenderer
from api.watches.watch_shapes import CreatedWatch, WatchView, view_delivery, view_watch
from assay.commands.runs.nodes import choose_chain
from assay.commands.runs.stores import open_store
from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from config.load_settings import load_settings
from config.settings import Settings
from core.errors import InvalidAddressError
from core.evm.primitives import Address, parse_address
from core.process.terminal import printable
from core.report.notifications import ALL_KINDS
from sql.accounts.ledger import Ledger
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store
from sql.watches.watch_events import write_test_message
from sql.watches.watch_messages import list_deliveries, list_last
from sql.watches.watches import (
    NewWatch,
    Watch,
    add_tokens,
    count_tokens,
    create_watch,
    find_watch,
    list_tokens,
    list_watches,
    pause_watch,
    remove_watch,
    resume_watch,
)

_READ_AT_ONCE = 500
_MESSAGES_SHOWN = 20

T = TypeVar("T")


def add_watch(
    name: str,
    chain: str,
    addresses: Sequence[str],
    *,
    kinds: Sequence[str],
    url: str | None,
    key_id: int | None,
) -> None:
    """Create a watch and print it. Raises BadParameter, ConfigError, StoreError."""
    settings = load_settings(os.environ)
    chosen, parsed = _tokens(settings, chain, addresses)
    secret = None if url is None else new_secret()
    new = NewWatch(key_id=key_id, name=name, kinds=tuple(kinds), url=url, secret=secret)
    _create(settings, new, lambda tx, watch_id: _add(tx, watch_id, chosen, parsed))


def add_feed(name: str, chain: str, *, url: str, after: int | None, key_id: int | None) -> None:
    """Create a watch of the feed of a chain and print it.

    `after` None: from now on. Raises BadParameter, ConfigError, StoreError.
    """
    settings = load_settings(os.environ)
    chosen, _ = _tokens(settings, chain, ())
    new = NewWatch(
        key_id=key_id,
        name=name,
        kinds=ALL_KINDS,
        url=url,
        secret=new_secret(),
        feed_chain_id=chosen.id,
        feed_after=after,
    )
    _create(settings, new, lambda _tx, _watch_id: None)


def _create(settings: Settings, new: NewWatch, fill: Callable[[Transaction, int], None]) -> None:
    """Create a watch, fill it, and print it with its secret."""
    if new.url is not None:
        try:
            rules_of(settings.watches).check_url(new.url)
        except WebhookRefusedError as error:
            raise click.BadParameter(error.reason, param_hint="--webhook") from error
    if new.key_id is not None:
        _check_key(settings, new.key_id)
    slugs = _slugs_of(settings)

    def write(tx: Transaction) -> WatchView:
        watch_id = create_watch(tx, new, now_s=time.time())
        fill(tx, watch_id)
        return _view(tx, _found(tx, watch_id), slugs)

    made = _write(settings, write)
    _print(CreatedWatch(watch=made, secret=None if new.secret is None else new.secret.value))


def add_to_watch(watch_id: int, chain: str, addresses: Sequence[str]) -> None:
    """Add tokens to a watch and print it. Raises BadParameter, ConfigError, StoreError."""
    settings = load_settings(os.environ)
    chosen, parsed = _tokens(settings, chain, addresses)
    _change(watch_id, lambda tx: _add(tx, watch_id, chosen, parsed))


def list_all() -> None:
    """Print every watch. Raises ConfigError, StoreError."""
    settings = load_settings(os.environ)
    slugs = _slugs_of(settings)
    with _stored(settings) as store:
        after, rows = 0, list[Watch]()
        while rows or not after:
            rows = list_watches(store, after=after, at_most=_READ_AT_ONCE)
            for row in rows:
                _print(_view(store, row, slugs))
            if not rows:
                return
            after = rows[-1].id


def show_one(watch_id: int) -> None:
    """Print a watch, its tokens and its last messages. Raises BadParameter, StoreError."""
    settings = load_settings(os.environ)
    chains = load_chains(settings.overlay)
    slugs = {chain.id: chain.slug for chain in chains}
    renderer = MessageRenderer(chains)
    with _stored(settings) as store, store.snapshot() as reader:
        _print(_view(reader, _found(reader, watch_id), slugs))
        for token in list_tokens(reader, watch_id):
            shown = {
                "chain": slugs.get(token.chain_id, str(token.chain_id)),
                "contract_address": token.address,
                "is_awaiting": token.is_awaiting,
            }
            _print(shown)
        rows = list_deliveries(reader, watch_id, at_most=_MESSAGES_SHOWN)
        messages = list_last(reader, watch_id, at_most=_MESSAGES_SHOWN)
        for row, message in zip(rows, messages, strict=True):
            _print(view_delivery(row, renderer.body(message)))


def pause(watch_id: int) -> None:
    """Pause a watch. Raises BadParameter, ConfigError, StoreError."""
    _change(watch_id, lambda tx: pause_watch(tx, watch_id))


def resume(watch_id: int) -> None:
    """Resume a watch. Raises BadParameter, ConfigError, StoreError."""
    _change(watch_id, lambda tx: resume_watch(tx, watch_id, now_s=time.time()))


def send_test(watch_id: int) -> None:
    """Send a watch a test message. Raises BadParameter, ConfigError, StoreError."""

    def test(tx: Transaction) -> None:
        has_webhook = _found(tx, watch_id).url is not None
        write_test_message(tx, watch_id, has_webhook=has_webhook, now_s=time.time())

    _change(watch_id, test)


def remove(watch_id: int) -> None:
    """Delete a watch. Raises BadParameter, ConfigError, StoreError."""

    def delete(tx: Transaction) -> None:
        _found(tx, watch_id)
        remove_watch(tx, watch_id)

    _write(load_settings(os.environ), delete)
    click.echo(f"removed {watch_id}")


def _tokens(
    settings: Settings, chain: str, addresses: Sequence[str]
) -> tuple[Chain, list[Address]]:
    chosen = choose_chain(load_chains(settings.overlay), chain)
    try:
        return chosen, [parse_address(text) for text in addresses]
    except InvalidAddressError as error:
        raise click.BadParameter(error.reason, param_hint="ADDRESSES") from error


def _check_key(settings: Settings, key_id: int) -> None:
    with closing(Ledger.of_store(settings.store)) as ledger:
        if ledger.ended_of([key_id], time.time()):
            message = f"there is no valid key {key_id}"
            raise click.BadParameter(message, param_hint="--key")


def _add(tx: Transaction, watch_id: int, chain: Chain, addresses: list[Address]) -> None:
    add_tokens(tx, watch_id, chain_id=chain.id, addresses=addresses, now_s=time.time())


def _change(watch_id: int, change: Callable[[Transaction], None]) -> None:
    """Change a watch and print the result."""
    settings = load_settings(os.environ)
    slugs = _slugs_of(settings)

    def write(tx: Transaction) -> WatchView:
        _found(tx, watch_id)
        change(tx)
        return _view(tx, _found(tx, watch_id), slugs)

    _print(_write(settings, write))


def _write(settings: Settings, write: Callable[[Transaction], T]) -> T:
    with _stored(settings) as store, store.transaction() as tx:
        return write(tx)


@contextmanager
def _stored(settings: Settings) -> Iterator[Store]:
    with closing(open_store(settings.store)) as store:
        yield store


def _found(store: Readable, watch_id: int) -> Watch:
    watch = find_watch(store, watch_id) if 0 < watch_id < 1 << 63 else None
    if watch is None:
        raise click.BadParameter(f"there is no watch {watch_id}", param_hint="WATCH_ID")  # noqa: TRY003
    return watch


def _slugs_of(settings: Settings) -> dict[int, str]:
    return {chain.id: chain.slug for chain in load_chains(settings.overlay)}


def _view(store: Readable, watch: Watch, slugs: dict[int, str]) -> WatchView:
    return view_watch(watch, tokens=count_tokens(store, watch.id), slugs=slugs)


def _print(value: object) -> None:
    click.echo(printable(msgspec.json.encode(value).decode()))
