"""Which static analysis answers came from: a name that changes with anything that decides them.

It is worked out from the sources, not counted by hand: a forgotten count, or the same one given to
two different changes, would hand out answers of code that no longer exists. A changed comment costs
one more look at each code, and nothing else.
"""

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

import msgspec

from analysis.static.analyse_code import CodeAnalysis

_ROOT: Final = Path(__file__).resolve().parents[2]

SOURCES: Final = (
    "analysis/reads/abi_encoding.py",
    "analysis/static/**/*.py",
    "config/burn.py",
    "config/errors.py",
    "config/primitives.py",
    "config/toml.py",
)
"""All that `examine` runs of ours; what it takes from sql/rows is in the shape of its findings."""

_LIBRARIES: Final = ("evmole", "pyevmasm", "eth-hash")
_LENGTH: Final = 16


@cache
def analysis_version() -> str:
    """Hex digits. The same for the same sources, libraries and shape of findings."""
    digest = hashlib.sha256(msgspec.json.encode(msgspec.json.schema(CodeAnalysis)))
    for library in _LIBRARIES:
        digest.update(f"{library} {metadata.version(library)}\n".encode())
    for path in sorted(path for pattern in SOURCES for path in _ROOT.glob(pattern)):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(_ROOT).as_posix()} {len(text)}\n".encode() + text)
    return digest.hexdigest()[:_LENGTH]
