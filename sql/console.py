"""Read-only SQL on a store in use: a Unix-socket server in the owning process, and its client.

The socket lies beside the store file, accessible to the file's owner only. A request is one JSON
line; the response is JSON lines: columns, then rows, then an end or failure line.
"""

import asyncio
import hashlib
import os
import socket
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import msgspec

from core.errors import AssayError, QueryError, StoreError
from sql.query import Bounds, QueryResult, run_query
from sql.store import Store

_LONGEST_SOCKET_PATH = 100
"""Bytes. The kernel's limit is 107 on Linux and 103 on macOS."""

_LONGEST_QUESTION = 1 << 20
_ROWS_A_LINE = 500
_AT_ONCE = 2
"""Statements that run at the same time; more are queued, to leave threads to other users of the
store."""

_PATIENCE_S = 10.0
"""Seconds the client adds to the time limit, as its statement may be queued."""


class _Ask(msgspec.Struct, frozen=True, kw_only=True):
    sql: str
    max_rows: int
    time_limit_s: float


class _Columns(msgspec.Struct, frozen=True, kw_only=True, tag="columns"):
    columns: tuple[str, ...]


class _Rows(msgspec.Struct, frozen=True, kw_only=True, tag="rows"):
    rows: list[tuple[object, ...]]


class _End(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    truncated: bool


class _Failure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    error: str
    is_query: bool
    """True if the statement was at fault, not the store."""


_Line = _Columns | _Rows | _End | _Failure


@asynccontextmanager
async def serve_console(
    store: Store, path: Path, *, most: Bounds | None = None
) -> AsyncIterator[None]:
    """Serve SQL on the store file `path` inside the block.

    `most` bounds what a request may ask for. Raises StoreError when no socket can be created.
    """
    address = socket_path(path)
    bounds = most or Bounds(max_rows=100_000)
    turn = asyncio.Semaphore(_AT_ONCE)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for line in await _answer(store, reader, bounds, turn):
                writer.write(line)
                await writer.drain()
        except ConnectionError:
            pass  # the client has disconnected
        finally:
            writer.close()

    listener = _listen(address)
    server = await asyncio.start_unix_server(answer, sock=listener, limit=_LONGEST_QUESTION)
    try:
        yield
    finally:
        server.close()
        await server.wait_closed()
        address.unlink(missing_ok=True)


def run_sql(path: Path, sql: str, bounds: Bounds | None = None) -> QueryResult:
    """Run one SELECT on a store file, through the owning process if there is one.

    Blocks. Raises QueryError for faults of the statement, else StoreError.
    """
    bounds = bounds or Bounds()
    with closing(socket.socket(socket.AF_UNIX)) as connection:
        connection.settimeout(bounds.time_limit_s + _PATIENCE_S)
        try:
            connection.connect(str(socket_path(path)))
        except (FileNotFoundError, ConnectionRefusedError):
            return _run_alone(path, sql, bounds)
        except OSError as error:
            raise StoreError(path=str(path), reason=str(error)) from error
        try:
            return _ask(connection, path, sql, bounds)
        except (OSError, msgspec.DecodeError) as error:
            reason = f"its owner broke off the answer: {error}"
            raise StoreError(path=str(path), reason=reason) from error


def socket_path(path: Path) -> Path:
    """Return the socket path: beside the store file, or a short one if that is too long.

    The short one is in the user's folder under the temporary folder. Raises StoreError when that
    folder is accessible to other users.
    """
    full = path.resolve()
    beside = full.with_name(full.name + ".sock")
    if len(os.fsencode(beside)) <= _LONGEST_SOCKET_PATH:
        return beside
    folder = Path(tempfile.gettempdir()) / f"assay-{os.geteuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
    except OSError as error:
        raise StoreError(path=str(folder), reason=str(error)) from error
    is_ours = facts.st_uid == os.geteuid() and not facts.st_mode & 0o077
    if not (is_ours and stat.S_ISDIR(facts.st_mode)):
        raise StoreError(path=str(folder), reason="others may write there")
    short = hashlib.sha256(os.fsencode(full)).hexdigest()[:32]
    return folder / f"{short}.sock"


def _listen(address: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    # Only the owner of the store file serves it, so an existing socket is left from a crash.
    mask = os.umask(0o177)
    try:
        address.unlink(missing_ok=True)
        listener.bind(str(address))
    except OSError as error:
        listener.close()
        raise StoreError(path=str(address), reason=str(error)) from error
    finally:
        os.umask(mask)
    return listener


async def _answer(
    store: Store, reader: asyncio.StreamReader, most: Bounds, turn: asyncio.Semaphore
) -> Iterator[bytes]:
    try:
        ask = msgspec.json.decode(await reader.readline(), type=_Ask)
    except (ValueError, msgspec.DecodeError) as error:
        return _lines_of_failure(QueryError(reason=f"not a question: {error}"))
    bounds = Bounds(
        max_rows=max(0, min(ask.max_rows, most.max_rows)),
        time_limit_s=max(0.0, min(ask.time_limit_s, most.time_limit_s)),
    )
    try:
        async with turn:
            result = await asyncio.to_thread(run_query, store, ask.sql, bounds)
    except AssayError as error:
        return _lines_of_failure(error)
    return _lines_of_result(result)


def _lines_of_result(result: QueryResult) -> Iterator[bytes]:
    yield _line(_Columns(columns=result.columns))
    for at in range(0, len(result.rows), _ROWS_A_LINE):
        yield _line(_Rows(rows=result.rows[at : at + _ROWS_A_LINE]))
    yield _line(_End(truncated=result.truncated))


def _lines_of_failure(error: AssayError) -> Iterator[bytes]:
    text = error.reason if isinstance(error, (QueryError, StoreError)) else str(error)
    yield _line(_Failure(error=text, is_query=isinstance(error, QueryError)))


def _line(line: _Line) -> bytes:
    return (
        msgspec.json.encode(
            line,
        )
        + b"\n"
    )


def _ask(connection: socket.socket, path: Path, sql: str, bounds: Bounds) -> QueryResult:
    ask = _Ask(sql=sql, max_rows=bounds.max_rows, time_limit_s=bounds.time_limit_s)
    connection.sendall(msgspec.json.encode(ask) + b"\n")
    columns: tuple[str, ...] = ()
    rows: list[tuple[object, ...]] = []
    with connection.makefile("rb") as answer:
        for text in answer:
            line = msgspec.json.decode(text, type=_Line)
            match line:
                case _Columns():
                    columns = line.columns
                case _Rows():
                    rows += line.rows
                case _End():
                    return QueryResult(columns=columns, rows=rows, truncated=line.truncated)
                case _Failure(is_query=True):
                    raise QueryError(reason=line.error)
                case _Failure():
                    raise StoreError(path=str(path), reason=line.error)
    raise StoreError(path=str(path), reason="its owner ended before the answer did")


def _run_alone(path: Path, sql: str, bounds: Bounds) -> QueryResult:
    store = Store.open(path, read_only=True)
    try:
        return run_query(store, sql, bounds)
    finally:
        store.close()
