"""Static answers, kept once per distinct code and detector version."""

import msgspec

from config.primitives import Hash32
from sql.rows import CodeAnswerRow, CodeRow, StaticFindings
from sql.store import Readable, Store


def read_findings(store: Readable, *, code_hash: Hash32, version: int) -> StaticFindings | None:
    """What the detectors of this version found in the code; None when they have not looked."""
    row = store.fetch_one("codes/find_answer", CodeAnswerRow, code_hash=code_hash, version=version)
    return None if row is None else msgspec.json.decode(row.findings, type=StaticFindings)


def write_findings(
    store: Store, *, code_hash: Hash32, size: int, version: int, findings: StaticFindings
) -> None:
    """Keep the answers in the place of those of any other version.

    `size` is that of the stripped code, in bytes.
    """
    text = msgspec.json.encode(findings).decode()
    answer = CodeAnswerRow(code_hash=code_hash, version=version, findings=text)
    with store.transaction() as tx:
        tx.execute("codes/delete_code", code_hash=code_hash)
        tx.execute("codes/delete_answers", code_hash=code_hash)
        tx.insert("code", [CodeRow(code_hash=code_hash, size=size)])
        tx.insert("code_answer", [answer])
