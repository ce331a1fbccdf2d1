"""Runs of pg_dump and pg_restore, which come with PostgreSQL."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from core.errors import StoreError
from sql.engine.postgres.postgres_database import translate_errors
from sql.engine.postgres.postgres_url import shown_url

_CONNECT_S: Final = 10
_SILENCE_MS: Final = 30_000
_MAJOR: Final = re.compile(r"\) (\d+)")
_MASK: Final = "***"


def check_program(program: str, url: str) -> str:
    """Check that an installed program supports the server; return the server's version.

    Raises StoreError.
    """
    server = _server_version(url)
    if shutil.which(program) is None:
        reason = f"{program} is not installed; PostgreSQL's client programs have to be on PATH"
        raise StoreError(path=shown_url(url), reason=reason)
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise StoreError(path=program, reason=str(error)) from error
    found, wanted = _MAJOR.search(done.stdout), int(server.partition(".")[0])
    if found is None:
        said = (done.stderr or done.stdout).strip()
        raise StoreError(path=program, reason=f"does not report its version: {said}")
    if int(found[1]) < wanted:
        reason = (
            f"{program} on PATH is of PostgreSQL {found[1]} and cannot read the server's {wanted}; "
            "put one that is as new on PATH before it"
        )
        raise StoreError(path=shown_url(url), reason=reason)
    return server


def run_program(program: str, url: str, options: Sequence[str]) -> None:
    """Run a program on a database to its end, with the password outside the command line.

    It is ended when the server is silent for half a minute. Raises StoreError.
    """
    password = conninfo_to_dict(url).get("password")
    try:
        with tempfile.NamedTemporaryFile("w", prefix="assay-", encoding="utf-8") as secret:
            if password is not None:
                secret.write(f"*:*:*:*:{_escaped(str(password))}\n")
                secret.flush()
            at = secret.name if password is not None else None
            done = subprocess.run(
                [program, "--dbname", _connection_text(url, at), "--no-password", *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                check=False,
            )
    except OSError as error:
        raise StoreError(path=program, reason=str(error)) from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip() or f"it ended with {done.returncode}"
        if password:
            said = said.replace(str(password), _MASK)
        raise StoreError(path=shown_url(url), reason=f"{program}: {said}")


def quoted_pattern(name: str) -> str:
    """Return a name quoted so that the programs do not take it for a pattern."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _server_version(url: str) -> str:
    with (
        translate_errors(shown_url(url), doing="connect"),
        psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_S) as connection,
    ):
        (found,) = connection.execute("show server_version").fetchone() or ("",)
        return str(found).partition(" ")[0]


def _escaped(password: str) -> str:
    return password.replace("\\", "\\\\").replace(":", "\\:")


def _connection_text(url: str, password_file: str | None) -> str:
    # None takes a part away.
    return make_conninfo(
        url,
        password=None,
        passfile=password_file,
        connect_timeout=_CONNECT_S,
        application_name="assay backup",
        keepalives_idle=10,
        keepalives_interval=5,
        keepalives_count=3,
        tcp_user_timeout=_SILENCE_MS,
    )
