"""Place of a lake by the address of its store, and its compaction lock."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import msgspec

from config.object_store import ObjectStoreKeys
from config.store_address import FileAddress, PostgresAddress, StoreAddress
from core.errors import MissingExtraError
from core.process.secret import Secret
from sql.engine.store_files import StoreFiles
from sql.lake.lake_place import FilePlace, LakeLock, LakePlace

_EXTRA: Final = "fleet"

LakeOwner = LakePlace | StoreAddress | StoreFiles | Path
"""Identification of a lake. A path is the prefix of a store's files."""


class StoreMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Serialisable address of a store, secrets included."""

    prefix: str
    url: str | None = None
    """None: the store is in files."""
    lake: str = ""
    key_id: str | None = None
    secret: str = ""
    region: str | None = None
    endpoint: str | None = None

    def address(self) -> StoreAddress:
        """Return the address."""
        prefix = Path(self.prefix)
        if self.url is None:
            return FileAddress(prefix)
        objects = None
        if self.key_id is not None:
            objects = ObjectStoreKeys(
                key_id=self.key_id,
                secret=Secret(self.secret),
                region=self.region,
                endpoint=self.endpoint,
            )
        return PostgresAddress(url=Secret(self.url), lake=self.lake, prefix=prefix, objects=objects)


def place_of(owner: LakeOwner) -> LakePlace:
    """Return the place of a lake. Raises StoreError for an invalid URL, and MissingExtraError if
    the driver of PostgreSQL is missing."""
    if isinstance(owner, LakePlace):
        return owner
    if isinstance(owner, PostgresAddress):
        try:
            from sql.lake.postgres.lake_in_postgres import DatabasePlace  # noqa: PLC0415 - of an extra
        except ImportError as error:
            raise MissingExtraError(extra=_EXTRA, package=str(error.name)) from error
        return DatabasePlace(owner)
    if isinstance(owner, StoreFiles):
        return FilePlace(FileAddress(owner.prefix))
    return FilePlace(FileAddress(owner) if isinstance(owner, Path) else owner)


def message_of(place: LakePlace) -> StoreMessage:
    """Return the address for another process."""
    address = place.address
    prefix = str(address.prefix.absolute())
    if isinstance(address, FileAddress):
        return StoreMessage(prefix=prefix)
    # Another process may have another working directory.
    lake = address.lake if "://" in address.lake else str(Path(address.lake).absolute())
    keys = address.objects
    if keys is None:
        return StoreMessage(prefix=prefix, url=address.url.value, lake=lake)
    return StoreMessage(
        prefix=prefix,
        url=address.url.value,
        lake=lake,
        key_id=keys.key_id,
        secret=keys.secret.value,
        region=keys.region,
        endpoint=keys.endpoint,
    )


def without_compaction(
    store: LakeOwner, *, within_s: float = 0.0
) -> AbstractContextManager[LakeLock]:
    """Keep other processes from compacting or backing up the store.

    Lasts until this process ends or, in PostgreSQL, falls silent. `within_s`: seconds to wait for a
    process that does either. Raises StoreError if that one takes longer.
    """
    return place_of(store).compacting(within_s=within_s)
