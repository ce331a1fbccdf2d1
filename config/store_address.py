"""Address of a store: files in one folder, or a PostgreSQL database with a lake."""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from config.object_store import ObjectStoreKeys
from core.errors import ConfigError
from core.process.secret import Secret

STORE_VARIABLE: Final = "ASSAY_STORE"
LAKE_VARIABLE: Final = "ASSAY_LAKE"

_ENVIRONMENT: Final = "environment"
_SCHEMES: Final = frozenset({"postgresql", "postgres"})
_OBJECTS: Final = "s3"
_DIGEST_CHARS: Final = 12
_DEFAULT_PORT: Final = 5432


class FileAddress(msgspec.Struct, frozen=True):
    """A store in files: serving state, lake and ledger in one folder."""

    path: Path
    """Prefix of their names."""

    @property
    def prefix(self) -> Path:
        """Return what the names of this machine's files of the store begin with."""
        return self.path

    @property
    def ledger(self) -> Path:
        """Return the path of the ledger of keys and usage."""
        return self.path.with_name(f"{self.path.name}.ledger.sqlite")

    def __str__(self) -> str:
        return str(self.path)


class PostgresAddress(msgspec.Struct, frozen=True, kw_only=True):
    """A store in PostgreSQL: serving state, ledger and the lake's catalogue in one database."""

    url: Secret
    """postgresql://, with user and password."""
    lake: str
    """Place of the lake's Parquet files: a folder, or s3://bucket/prefix."""
    objects: ObjectStoreKeys | None = None
    """Credentials of a lake in an object store. None: requests are not signed."""
    prefix: Path
    """Prefix of this machine's files of the store: locks between its processes, and spilled sorts.

    Nothing there has to be kept.
    """

    @property
    def name(self) -> str:
        """Return host, port and database, without user and password."""
        parts = urlsplit(self.url.value)
        where = f"{parts.hostname or 'localhost'}:{parts.port or _DEFAULT_PORT}"
        return f"postgresql://{where}{parts.path}"

    def __str__(self) -> str:
        return self.name


StoreAddress = FileAddress | PostgresAddress


def is_url(text: str) -> bool:
    """Return whether a text means something else than a path."""
    return "://" in text


def read_address(
    store: str, lake: str | None, *, source: str, objects: ObjectStoreKeys | None = None
) -> StoreAddress:
    """Return the address that `ASSAY_STORE` and `ASSAY_LAKE` name.

    `source`: where `store` was set. `objects`: for a lake in an object store. Raises ConfigError,
    which never repeats a URL.
    """
    if not is_url(store):
        if lake is None:
            return FileAddress(Path(store))
        reason = "only for a store in PostgreSQL; a store in files keeps its lake next to it"
        raise ConfigError(source=_ENVIRONMENT, key=LAKE_VARIABLE, reason=reason)
    _check_database(store, source=source)
    if lake is None:
        reason = (
            "is required for a store in PostgreSQL: a folder or s3://bucket/prefix for its lake"
        )
        raise ConfigError(source=_ENVIRONMENT, key=LAKE_VARIABLE, reason=reason)
    _check_lake(lake)
    return PostgresAddress(
        url=Secret(store), lake=lake, objects=objects, prefix=_local_prefix(store)
    )


def _check_database(url: str, *, source: str) -> None:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in _SCHEMES and parts.port != 0 and len(parts.path) > 1
    except ValueError:
        is_good = False
    if not is_good:
        reason = (
            "expects a path, or postgresql://user:password@host:port/database with user and "
            "password percent-encoded"
        )
        key = STORE_VARIABLE if source == _ENVIRONMENT else "store"
        raise ConfigError(source=source, key=key, reason=reason)


def _check_lake(lake: str) -> None:
    if not is_url(lake):
        return
    parts = urlsplit(lake)
    if parts.scheme != _OBJECTS or not parts.netloc or "@" in parts.netloc:
        reason = "expects a folder or s3://bucket/prefix; its credentials are AWS_... variables"
        raise ConfigError(source=_ENVIRONMENT, key=LAKE_VARIABLE, reason=reason)


def _local_prefix(url: str) -> Path:
    """Return a place of this user's on this machine's temporary disk: TMPDIR moves it."""
    parts = urlsplit(url)
    where = f"{parts.hostname}:{parts.port or _DEFAULT_PORT}{parts.path}"
    digest = hashlib.sha256(where.encode()).hexdigest()[:_DIGEST_CHARS]
    return Path(tempfile.gettempdir()) / f"assay-{os.getuid()}-{digest}" / "store"
