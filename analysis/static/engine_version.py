"""Version of the static analysis engine: a digest of everything that decides its results.

Keys the cached results. It is computed from the sources, not counted by hand: a forgotten or reused
number would serve results of code that no longer exists. A changed comment costs one more analysis
of each code, and nothing else.
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
    "analysis/static/**/*.py",
    "config/burn.py",
    "config/toml.py",
    "core/evm/abi.py",
    "core/evm/abi_types.py",
    "core/evm/code_shape.py",
    "core/errors.py",
    "core/evm/keccak.py",
    "core/evm/primitives.py",
    "core/report/powers.py",
)
"""All project files that `analyse_code` runs.

The schema of the results covers keys and types of `core.report.report` and `core.report.fields`;
the documentation of a field decides no result.
"""

_LIBRARIES: Final = ("evmole", "pyevmasm", "safe-pysha3")
_LENGTH: Final = 16


@cache
def analysis_version() -> str:
    """Return 16 hex digits: a digest of sources, library versions and the schema of the results."""
    digest = hashlib.sha256(msgspec.json.encode(msgspec.json.schema(CodeAnalysis)))
    for library in _LIBRARIES:
        digest.update(f"{library} {metadata.version(library)}\n".encode())
    for path in sorted(path for pattern in SOURCES for path in _ROOT.glob(pattern)):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(_ROOT).as_posix()} {len(text)}\n".encode() + text)
    return digest.hexdigest()[:_LENGTH]
