"""A TCP proxy in front of a server that delays, cuts or silences its connections, both ways or
one."""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_CHUNK_BYTES = 64 << 10
_MOST_HELD = 256
"""Chunks on their way."""

_END = (0.0, b"")
_STOP_S = 10.0


class TcpProxy:
    """Forwards connections from its port of 127.0.0.1 to another. Thread-safe.

    Runs in a separate thread, so that blocking clients can be tested.
    """

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._delay_s = 0.0
        self._is_refusing = False
        self._may_ask, self._may_answer = asyncio.Event(), asyncio.Event()
        self._may_ask.set()
        self._may_answer.set()
        self._own_ports: set[int] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    def start(self) -> None:
        """Listen on a free port."""
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(self._listen(), self._loop)
        self.port = starting.result(_STOP_S)

    def stop(self) -> None:
        """End all connections, and the thread."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(_STOP_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_S)
        self._loop.close()

    def delay(self, seconds: float) -> None:
        """Delay all data by a time from now on, in both directions."""
        self._call(lambda: setattr(self, "_delay_s", seconds))

    def cut(self) -> None:
        """Reset all open connections. New ones are accepted."""
        self._call(self._abort_all)

    def refuse(self, *, is_refusing: bool = True) -> None:
        """Reset new connections immediately, or no longer."""
        self._call(lambda: setattr(self, "_is_refusing", is_refusing))

    def silence(self, *, is_silent: bool = True) -> None:
        """Keep connections open but forward nothing, as after a cable is pulled; or go on."""
        self._call(self._may_ask.clear if is_silent else self._may_ask.set)
        self._call(self._may_answer.clear if is_silent else self._may_answer.set)

    def hold_answers(self, *, is_holding: bool = True) -> None:
        """Forward clients' data and hold the server's; or go on."""
        self._call(self._may_answer.clear if is_holding else self._may_answer.set)

    def has_opened(self, port: int) -> bool:
        """Return whether a connection to the server came from that port of the proxy's."""
        return port in self._own_ports

    def _call(self, change: Callable[[], object]) -> None:
        """Make a change in the proxy's thread, and wait until it is made."""
        is_made = threading.Event()

        def make() -> None:
            change()
            is_made.set()

        self._loop.call_soon_threadsafe(make)
        is_made.wait(_STOP_S)

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        self._abort_all()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _abort_all(self) -> None:
        for writer in self._writers:
            _reset(writer)
        self._writers.clear()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if self._is_refusing:
            _reset(writer)
            return
        self._writers.add(writer)
        onward: asyncio.StreamWriter | None = None
        with suppress(OSError, asyncio.CancelledError):
            answers, onward = await asyncio.open_connection("127.0.0.1", self._target_port)
            self._writers.add(onward)
            self._own_ports.add(int(onward.get_extra_info("sockname")[1]))
            await asyncio.gather(
                self._pump(reader, onward, self._may_ask),
                self._pump(answers, writer, self._may_answer),
            )
        for end in (writer, onward):
            if end is not None:
                self._writers.discard(end)
                end.transport.abort()

    async def _pump(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, may_pass: asyncio.Event
    ) -> None:
        """Forward each chunk after the same delay, so that a long answer is delayed once."""
        line: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_MOST_HELD)
        reading = asyncio.create_task(self._read_ahead(source, line))
        try:
            while True:
                due_s, data = await line.get()
                if not data:
                    break
                await asyncio.sleep(due_s - self._loop.time())
                await may_pass.wait()
                target.write(data)
                await target.drain()
            await reading
            target.write_eof()
        finally:
            reading.cancel()

    async def _read_ahead(
        self, source: asyncio.StreamReader, line: "asyncio.Queue[tuple[float, bytes]]"
    ) -> None:
        try:
            while data := await source.read(_CHUNK_BYTES):
                await line.put((self._loop.time() + self._delay_s, data))
        except OSError:
            await line.put(_END)
            raise
        await line.put(_END)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection so that its other end sees a reset, not an orderly end."""
    with suppress(OSError):  # it may be closed already
        link = writer.get_extra_info("socket")
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@contextmanager
def proxied(target_port: int) -> Iterator[TcpProxy]:
    """Run a proxy in front of a port of 127.0.0.1."""
    proxy = TcpProxy(target_port)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
