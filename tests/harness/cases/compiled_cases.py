"""Compiled code of the cases, kept in the repository, so that tests need no compiler.

`python -m tests.harness.cases.compiled_cases` compiles every case and writes the archive.
`test_compiled_cases.py` compares it with the compilers' output for today's sources.
"""

import lzma
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

ARCHIVE: Final = Path(__file__).resolve().parents[2] / "cases" / "compiled.json.xz"


@cache
def read_archive() -> dict[str, str]:
    """Runtime code as hex, by the digest of compiler and request."""
    if not ARCHIVE.is_file():
        return {}
    return msgspec.json.decode(lzma.decompress(ARCHIVE.read_bytes()), type=dict[str, str])


def write_archive(codes: dict[str, str]) -> None:
    """Write all of them, in an order that depends on nothing but them."""
    ARCHIVE.write_bytes(lzma.compress(msgspec.json.encode(dict(sorted(codes.items())))))


def main() -> None:
    """Compile everything, and write it."""
    from tests.harness.cases.cases_compile import PACKAGES, compile_all  # noqa: PLC0415 - reads it

    codes = {digest: code for package in PACKAGES for digest, code in compile_all(package).items()}
    write_archive({digest: code.hex() for digest, code in codes.items()})


if __name__ == "__main__":
    main()
