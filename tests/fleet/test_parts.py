"""Protects the parts that tests of a fleet run on: each works, starts again and leaves nothing."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import duckdb
import duckdb_extension_httpfs
import psycopg
import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.parts.postgres_server import PostgresServer, running_postgres
from tests.harness.parts.s3_server import S3Server, can_make_small_disks, running_s3
from tests.harness.parts.server_process import PartFailedError, ServerProcess, is_listening
from tests.harness.parts.tcp_proxy import TcpProxy, proxied
from tests.harness.parts.valkey_server import running_valkey

pytestmark = pytest.mark.fleet


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_postgres_keeps_what_was_committed_through_a_kill_and_then_goes() -> None:
    with running_postgres(is_durable=True) as server:
        with psycopg.connect(server.url()) as connection:
            connection.execute("create table kept (number int)")
            connection.execute("insert into kept values (7)")
        server.kill()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(server.url(), connect_timeout=2)
        server.start()
        with psycopg.connect(server.url()) as connection:
            assert connection.execute("select number from kept").fetchall() == [(7,)]
        pid, folder = server.pid, server._folder
    assert not is_alive(pid)
    assert not folder.exists()


def test_postgres_asks_for_the_password(postgres_server: PostgresServer) -> None:
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(postgres_server.url().replace(postgres_server.password, "wrong"))


def test_valkey_keeps_what_it_has_confirmed() -> None:
    with running_valkey() as server:
        with closing(redis.Redis.from_url(server.url)) as client:
            assert client.incrby("calls", 5) == 5
            client.eval("for i = 1, 200000 do redis.call('set', i, i) end", 0)
        server.kill()
        assert not is_listening(server.port)
        server.start()
        with closing(redis.Redis.from_url(server.url)) as client:
            assert client.get("calls") == b"5"


def test_valkey_can_forget_everything() -> None:
    with running_valkey() as server:
        with closing(redis.Redis.from_url(server.url)) as client:
            client.set("calls", 5)
        server.kill()
        server.empty()
        server.start()
        with closing(redis.Redis.from_url(server.url)) as client:
            assert client.get("calls") is None


def test_a_small_disk_of_objects_is_full_until_it_is_emptied() -> None:
    if not can_make_small_disks():
        pytest.skip("this machine lets nobody mount a file system in memory")
    with running_s3(disk_mb=4) as server, signed_in(server, server.secret) as client:
        server.create_bucket("lake")
        client.execute("copy (select 7 as number) to 's3://lake/some.parquet'")
        server.fill_disk()
        with pytest.raises(duckdb.HTTPException):
            client.execute("copy (select random() from range(9999)) to 's3://lake/more.parquet'")
        assert client.execute("from 's3://lake/some.parquet'").fetchall() == [(7,)]
        server.empty_disk()
        client.execute("copy (select 8 as number) to 's3://lake/more.parquet'")
        assert client.execute("from 's3://lake/more.parquet'").fetchall() == [(8,)]


def test_s3_serves_who_signs_rightly_and_nobody_else() -> None:
    with running_s3() as server:
        server.create_bucket("lake")
        with signed_in(server, server.secret) as client:
            client.execute("copy (select 7 as number) to 's3://lake/some.parquet'")
            assert client.execute("from 's3://lake/some.parquet'").fetchall() == [(7,)]
        assert (server.objects / "lake" / "some.parquet").exists()
        with (
            signed_in(server, "wrong") as client,
            pytest.raises(duckdb.HTTPException, match=r"403|Forbidden|SignatureDoesNotMatch"),
        ):
            client.execute("from 's3://lake/some.parquet'")


@contextmanager
def signed_in(server: S3Server, secret: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB that reads and writes the server's objects."""
    folder = Path(duckdb_extension_httpfs.__file__).parent
    (extension,) = folder.rglob("httpfs.duckdb_extension*")
    with closing(duckdb.connect()) as client:
        client.execute(f"load '{extension}'")
        client.execute(
            "create secret (type s3, url_style 'path', use_ssl false,"
            f" endpoint '{server.endpoint}', key_id '{server.key_id}', secret '{secret}')"
        )
        yield client


def test_a_part_that_cannot_start_says_what_it_logged(tmp_path: Path) -> None:
    broken = ServerProcess(["/bin/sh", "-c", "echo no room; exit 3"], log=tmp_path / "log")
    with pytest.raises(PartFailedError, match="ended: no room"):
        broken.start(lambda: False)


# --- the proxy --------------------------------------------------------------------------------


@contextmanager
def echoing() -> Iterator[int]:
    """Run a server that echoes its input; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer(link: socket.socket) -> None:
            with link, suppress(ConnectionResetError):
                while data := link.recv(1 << 16):
                    link.sendall(data)

        def accept() -> None:
            while True:
                try:
                    link = listener.accept()[0]
                except OSError:
                    return
                threading.Thread(target=answer, args=(link,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def proxy() -> Iterator[TcpProxy]:
    with echoing() as port, proxied(port) as running:
        yield running


def connect(proxy: TcpProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=5)


def returned(link: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = link.recv(1 << 16)
        if not piece:
            break
        data += piece
    return data


@given(sent=st.binary(min_size=1, max_size=200_000))
def test_what_goes_in_comes_out(proxy: TcpProxy, sent: bytes) -> None:
    with connect(proxy) as link:
        sender = threading.Thread(target=link.sendall, args=(sent,))
        sender.start()
        assert returned(link, len(sent)) == sent
        sender.join()


def test_a_delay_counts_in_both_directions_and_ends(proxy: TcpProxy) -> None:
    with connect(proxy) as link:
        proxy.delay(0.05)
        began_s = time.monotonic()
        link.sendall(b"slow")
        assert returned(link, 4) == b"slow"
        assert time.monotonic() - began_s >= 0.1
        proxy.delay(0.0)
        link.sendall(b"fast")
        assert returned(link, 4) == b"fast"


def test_much_is_delayed_no_longer_than_little(proxy: TcpProxy) -> None:
    sent = bytes(2_000_000)  # thirty pieces, each way
    with connect(proxy) as link:
        proxy.delay(0.5)
        began_s = time.monotonic()
        sender = threading.Thread(target=link.sendall, args=(sent,))
        sender.start()
        assert returned(link, len(sent)) == sent
        sender.join()
        assert 1.0 <= time.monotonic() - began_s < 15.0


def test_a_cut_resets_what_is_open_and_lets_new_ones_in(proxy: TcpProxy) -> None:
    with connect(proxy) as link:
        link.sendall(b"x")
        assert returned(link, 1) == b"x"
        proxy.cut()
        with pytest.raises(ConnectionResetError):
            returned(link, 1)
    with connect(proxy) as link:
        link.sendall(b"y")
        assert returned(link, 1) == b"y"


def test_refused_connections_end_at_once(proxy: TcpProxy) -> None:
    proxy.refuse()
    with pytest.raises(ConnectionResetError), connect(proxy) as link:
        link.sendall(b"x")
        returned(link, 1)
    proxy.refuse(is_refusing=False)


def test_a_silent_connection_stays_open_and_says_nothing_until_it_goes_on(proxy: TcpProxy) -> None:
    with connect(proxy) as link:
        link.sendall(b"x")
        assert returned(link, 1) == b"x"
        proxy.silence()
        link.sendall(b"later")
        link.settimeout(0.2)
        with pytest.raises(TimeoutError):
            link.recv(1)
        link.settimeout(5)
        proxy.silence(is_silent=False)
        assert returned(link, 5) == b"later"


def test_answers_are_held_while_what_is_asked_arrives(proxy: TcpProxy) -> None:
    with connect(proxy) as link:
        link.sendall(b"first")
        assert returned(link, 5) == b"first"
        proxy.hold_answers()
        link.sendall(b"asked")
        link.settimeout(0.2)
        with pytest.raises(TimeoutError):
            link.recv(1)
        link.settimeout(5)
        proxy.hold_answers(is_holding=False)
        assert returned(link, 5) == b"asked"


def test_a_proxy_knows_its_own_connections(proxy: TcpProxy) -> None:
    with connect(proxy) as link:
        link.sendall(b"x")
        assert returned(link, 1) == b"x"
        opened = [port for port in range(1 << 16) if proxy.has_opened(port)]
        assert opened
        assert link.getsockname()[1] not in opened
