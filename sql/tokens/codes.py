"""Cache of static analysis results, one per distinct runtime code and analysis version."""

import hashlib

from core.evm.primitives import Hash32
from sql.engine.store import NO_CHAIN, Readable, Store
from sql.engine.table_rows import CodeAnswerRow

_KEY_BYTES = 8

_DELETED_AT_ONCE = 1_000


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
    with store.transaction(chain_id=NO_CHAIN) as tx:
        tx.insert("code_answer", [row], on_conflict="replace")


def delete_other_versions(store: Store, *, version: str) -> None:
    """Delete the results of all other analysis versions, in small steps. Raises StoreError."""
    deleted = _DELETED_AT_ONCE
    while deleted == _DELETED_AT_ONCE:
        with store.transaction(chain_id=NO_CHAIN) as tx:
            deleted = tx.execute(
                "codes/delete_other_versions", version=version, at_most=_DELETED_AT_ONCE
            )


def _key_of(code_hash: Hash32, version: str) -> int:
    """Return one integer key for both."""
    digest = hashlib.sha256(f"{version} {code_hash}".encode()).digest()
    return int.from_bytes(digest[:_KEY_BYTES], signed=True)
