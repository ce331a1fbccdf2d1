"""Runtime code of the cases, by every compiler and setting that takes their source.

Compiled when first asked for and cached in `.cache/cases` under a hash of source, settings and
compiler. Immutables and library addresses, which deployment fills in, are filled with made-up ones.
"""

import hashlib
import re
import subprocess
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from demo.anvil import NODE_MODULES, PROJECT_ROOT
from demo.compile import _find_node
from tests.analysis.cases import CASES, Case, load_cases
from tests.analysis.static.assembler import assemble

_CACHE: Final = PROJECT_ROOT / ".cache" / "cases"
_COMPILE_S: Final = 300.0
_IMMUTABLE: Final = "5afe" * 10
_LIBRARY: Final = "11b4" * 10
_UNLINKED: Final = re.compile(r"__.{38}")
_IMPORT: Final = re.compile(r'^import "(?:\.\./)+(.+)";$', re.MULTILINE)


class Build(msgspec.Struct, frozen=True, kw_only=True):
    """One compiler with one setting."""

    name: str
    package: str
    version: tuple[int, ...]
    optimised: bool = False
    via_ir: bool = False

    def settings(self) -> dict[str, object]:
        """As in the compiler's standard JSON."""
        chosen: dict[str, object] = {
            "optimizer": {"enabled": self.optimised, "runs": 200},
            "outputSelection": {"*": {"*": ["evm.deployedBytecode"]}},
        }
        return chosen | ({"viaIR": True} if self.via_ir else {})


BUILDS: Final = (
    Build(name="0.4-opt", package="solc-0.4", version=(0, 4, 26), optimised=True),
    Build(name="0.5", package="solc-0.5", version=(0, 5, 17)),
    Build(name="0.6-opt", package="solc-0.6", version=(0, 6, 12), optimised=True),
    Build(name="0.7", package="solc-0.7", version=(0, 7, 6)),
    Build(name="0.8.4-opt", package="solc-0.8.4", version=(0, 8, 4), optimised=True),
    Build(name="0.8", package="solc", version=(0, 8, 37)),
    Build(name="0.8-opt", package="solc", version=(0, 8, 37), optimised=True),
    Build(name="0.8-ir", package="solc", version=(0, 8, 37), optimised=True, via_ir=True),
)
ASSEMBLED: Final = Build(name="evm", package="", version=())


class _Place(msgspec.Struct):
    start: int
    length: int


class _Deployed(msgspec.Struct):
    object: str
    immutableReferences: dict[str, tuple[_Place, ...]] = {}  # noqa: N815 - solc's name


class _Evm(msgspec.Struct):
    deployedBytecode: _Deployed  # noqa: N815 - solc's name


class _Contract(msgspec.Struct):
    evm: _Evm


class _Message(msgspec.Struct):
    severity: str
    formattedMessage: str  # noqa: N815 - solc's name


class _Output(msgspec.Struct):
    errors: tuple[_Message, ...] = ()
    contracts: dict[str, dict[str, _Contract]] = {}


def builds_of(case: Case) -> tuple[Build, ...]:
    """All that take the case's source."""
    if case.source.suffix == ".evm":
        return (ASSEMBLED,)
    return tuple(build for build in BUILDS if case.accepts(build.version))


def runtime_of(case: Case, build: Build) -> bytes:
    """The code as it would stand on a chain."""
    if build is ASSEMBLED:
        return assemble(case.source.read_text())
    code = _compiled(build.package)[case.name, build.name]
    assert isinstance(code, bytes), code
    return code


@cache
def _compiled(package: str) -> dict[tuple[str, str], bytes | str]:
    """All cases by one compiler, so that it starts only once. A text is the compiler's refusal."""
    version = (NODE_MODULES / package / "package.json").read_bytes()
    found: dict[tuple[str, str], bytes | str] = {}
    missing: dict[Path, list[tuple[Case, Build, dict[str, object]]]] = defaultdict(list)
    for case in load_cases():
        for build in builds_of(case):
            if build.package != package:
                continue
            request = _request(case, build)
            digest = hashlib.sha256(version + msgspec.json.encode(request)).hexdigest()
            cached = _CACHE / f"{digest}.bin"
            if cached.is_file():
                found[case.name, build.name] = cached.read_bytes()
            else:
                missing[cached].append((case, build, request))
    wanted = [each for group in missing.values() for each in group]
    outputs = _run(package, [request for _, _, request in wanted]) if wanted else ()
    _CACHE.mkdir(parents=True, exist_ok=True)
    for (cached, [(case, build, _)]), output in zip(missing.items(), outputs, strict=True):
        code = _runtime(case, output)
        found[case.name, build.name] = code
        if isinstance(code, str):
            continue
        # Written aside and renamed, so that a second process never reads half a file.
        part = cached.with_suffix(f".{id(code)}.part")
        part.write_bytes(code)
        part.replace(cached)
    return found


def _request(case: Case, build: Build) -> dict[str, object]:
    text = case.source.read_text()
    files = {case.source.relative_to(CASES).as_posix(): text}
    for name in _IMPORT.findall(text):
        files[name] = (CASES / name).read_text()
    return {
        "language": "Solidity",
        "sources": {name: {"content": content} for name, content in sorted(files.items())},
        "settings": build.settings(),
    }


def _run(package: str, requests: list[dict[str, object]]) -> tuple[_Output, ...]:
    given = msgspec.json.encode({"package": package, "requests": requests})
    with tempfile.TemporaryFile() as answer:  # a pipe is cut short when the process ends
        subprocess.run(
            [_find_node(), str(CASES / "solc.cjs")],
            input=given,
            stdout=answer,
            timeout=_COMPILE_S,
            check=True,
            cwd=PROJECT_ROOT,
        )
        answer.seek(0)
        return msgspec.json.decode(answer.read(), type=tuple[_Output, ...])


def _runtime(case: Case, output: _Output) -> bytes | str:
    refused = [each.formattedMessage for each in output.errors if each.severity == "error"]
    if refused:
        return "\n".join(refused)
    file = case.source.relative_to(CASES).as_posix()
    deployed = output.contracts[file][case.name].evm.deployedBytecode
    code = bytearray.fromhex(_UNLINKED.sub(_LIBRARY, deployed.object))
    for places in deployed.immutableReferences.values():
        for place in places:
            code[place.start : place.start + place.length] = bytes.fromhex(_IMMUTABLE).rjust(
                place.length, b"\0"
            )
    return bytes(code)
