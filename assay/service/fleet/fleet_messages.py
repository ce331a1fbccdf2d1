"""Messages between the processes of a fleet, through Valkey: runs and inquiries begin and end.

They only shorten the wait for the next poll of the database, so a lost message or an absent server
is harmless.
"""

import asyncio
from collections.abc import Callable
from typing import Literal, get_args

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from core.evm.primitives import Address
from core.process.secret import Secret, mask_url

MessageKind = Literal["asked", "ended", "inquired", "answered"]
"""`asked`: a report was requested. `ended`: a run has ended, so the report may be another one.
`inquired`: an inquiry was sent. `answered`: it was answered."""

OnMessage = Callable[[int, Address], None]
"""Called with the chain id and the token of a message."""

_CHANNELS = {f"assay:{kind}".encode(): kind for kind in get_args(MessageKind)}
_PATIENCE_S = 0.5
_AGAIN_S = 1.0
_ALIVE_EVERY_S = 5.0
_MOST_UNSENT = 1_000

_LOG = structlog.get_logger(__name__)


class FleetMessages:
    """One process's messages to and from the others. For one event loop."""

    def __init__(self, url: Secret | None) -> None:
        """`url` of a Redis or Valkey server. None: messages are neither sent nor received."""
        self._client = (
            None
            if url is None
            else Redis.from_url(
                url.value,
                socket_connect_timeout=_PATIENCE_S,
                socket_timeout=_ALIVE_EVERY_S,
                health_check_interval=_ALIVE_EVERY_S,
            )
        )
        self._address = "" if url is None else mask_url(url.value)
        self._subscribers: dict[MessageKind, list[OnMessage]] = {
            kind: [] for kind in get_args(MessageKind)
        }
        self._unsent: asyncio.Queue[tuple[MessageKind, int, Address]] = asyncio.Queue(_MOST_UNSENT)

    def subscribe(self, kind: MessageKind, on_message: OnMessage) -> None:
        """Call a function for each message of a kind."""
        self._subscribers[kind].append(on_message)

    def send(self, kind: MessageKind, chain_id: int, address: Address) -> None:
        """Queue a message; it is dropped if it cannot be sent."""
        if self._client is not None and not self._unsent.full():
            self._unsent.put_nowait((kind, chain_id, address))

    async def run(self, stop: asyncio.Event) -> None:
        """Send and receive until the stop."""
        client = self._client
        if client is None:
            return
        tasks = [
            asyncio.create_task(self._send(client)),
            asyncio.create_task(self._keep_listening(client)),
        ]
        try:
            await stop.wait()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await client.aclose()

    async def _send(self, client: Redis) -> None:
        while True:
            kind, chain_id, address = await self._unsent.get()
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    await client.publish(f"assay:{kind}", f"{chain_id} {address}")
            except (RedisError, OSError, TimeoutError):
                while not self._unsent.empty():  # they are of use at once or not at all
                    self._unsent.get_nowait()
                await asyncio.sleep(_AGAIN_S)

    async def _keep_listening(self, client: Redis) -> None:
        is_answering = True
        while True:
            try:
                await self._listen(client)
            except (RedisError, OSError, TimeoutError) as error:
                if is_answering:
                    reason = str(error) or type(error).__name__
                    _LOG.warning("no messages for now", server=self._address, reason=reason)
                is_answering = False
            await asyncio.sleep(_AGAIN_S)

    async def _listen(self, client: Redis) -> None:
        async with client.pubsub(ignore_subscribe_messages=True) as channel:
            await channel.subscribe(*_CHANNELS)
            while True:
                message = await channel.get_message(timeout=_ALIVE_EVERY_S / 2)
                if message is not None:
                    self._receive(message["channel"], message["data"])

    def _receive(self, channel: bytes, data: bytes) -> None:
        kind = _CHANNELS.get(channel)
        chain_id, _, address = data.decode(errors="replace").partition(" ")
        if kind is None or not chain_id.isdecimal():
            return
        for on_message in self._subscribers[kind]:
            on_message(int(chain_id), Address(address))
