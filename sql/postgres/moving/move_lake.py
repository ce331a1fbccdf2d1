"""Moves the lake of a store in files to PostgreSQL's side. Not there yet."""

from config.store_address import FileAddress, PostgresAddress
from core.errors import StoreError
from sql.store_files import StoreFiles


def move_lake(source: FileAddress, target: PostgresAddress) -> None:
    """Bring the lake's files to the target's place, and its catalogue to the database.

    Raises StoreError where the source has a lake: what is in it must not be lost unnoticed.
    """
    lake = StoreFiles(prefix=source.path).lake
    if lake.exists():
        reason = (
            f"it cannot be moved to {target.lake} yet; --without-lake moves everything else, and "
            "leaves final transfers, trades and undecoded logs behind"
        )
        raise StoreError(path=str(lake), reason=reason)
