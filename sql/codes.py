"""Cache of static analysis results, one per distinct runtime code and analysis version."""

import hashlib

from core.primitives import Hash32
from sql.rows import CodeAnswerRow
from sql.store import Readable, Store

_KEY_BYTES = 8


def read_found(store: Readable, *, code_hash: Hash32, version: str) -> str | None:
    """Return the result of this analysis version for the code; None if it was not analysed.

    Raises StoreError.
    """
    key = _key_of(code_hash, version)
    for row in store.fetch("codes/find_answer", CodeAnswerRow, code_key=key):
        if row.code_hash == code_hash and row.version == version:
            return row.found
    return None


def write_found(store: Store, *, code_hash: Hash32, version: str, size: int, found: str) -> None:
    """Store a result, replacing an earlier one. Raises StoreError.

    `size` is that of the code as hashed, in bytes.
    """
    row = CodeAnswerRow(
        code_key=_key_of(code_hash, version),
        code_hash=code_hash,
        version=version,
        size=size,
        found=found,
    )
    with store.transaction() as tx:
        tx.execute("codes/delete_answer", code_key=row.code_key)
        tx.insert("code_answer", [row])


def delete_other_versions(store: Store, *, version: str) -> None:
    """Delete the results of all other analysis versions. Raises StoreError."""
    with store.transaction() as tx:
        tx.execute("codes/delete_other_versions", version=version)


def _key_of(code_hash: Hash32, version: str) -> int:
    """Return one integer key for both: DuckDB uses an index on one column, but scans for two."""
    digest = hashlib.sha256(f"{version} {code_hash}".encode()).digest()
    return int.from_bytes(digest[:_KEY_BYTES], signed=True)
