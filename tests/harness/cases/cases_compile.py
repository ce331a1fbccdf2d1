"""Runtime code of the cases, by every compiler and setting that accepts their source.

Compiled when first needed and cached in `.cache/cases` under a hash of source, settings and
compiler. Immutables and library addresses, which deployment fills in, are filled with made-up ones.
"""

import hashlib
import importlib.metadata
import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from functools import cache
from typing import Final

import msgspec

from assay.demo.npm_packages import NODE_MODULES, PROJECT_ROOT, find_node
from tests.harness.cases.cases import CASES, Case, Miss, load_cases
from tests.harness.cases.compiled_cases import read_archive
from tests.harness.static.assembler import assemble

_CACHE: Final = PROJECT_ROOT / ".cache" / "cases"
_COMPILE_S: Final = 300.0
IMMUTABLE: Final = bytes.fromhex("5afe" * 10)
"""Made up, wherever deployment puts one."""
BLANK: Final = bytes(len(IMMUTABLE))
_LIBRARY: Final = "11b4" * 10
_UNLINKED: Final = re.compile(r"__.{38}")
_IMPORT: Final = re.compile(r'^import "(?:\.\./)+(.+)";$', re.MULTILINE)


class Build(msgspec.Struct, frozen=True, kw_only=True):
    """One compiler with one setting."""

    name: str
    suffix: str
    """Suffix of the accepted sources."""
    package: str = ""
    """npm package of solc."""
    version: tuple[int, ...] = ()
    """Version of solc, for the sources' pragmas."""
    optimise: str = ""
    """solc: on or off. Vyper: its own names."""
    is_new: bool = False
    """solc: via IR. Vyper: the code generator called Venom."""


def _solc(name: str, package: str, version: str, optimise: str, *, is_new: bool = False) -> Build:
    numbers = tuple(int(part) for part in version.split("."))
    return Build(
        name=name,
        suffix=".sol",
        package=package,
        version=numbers,
        optimise=optimise,
        is_new=is_new,
    )


BUILDS: Final = (
    _solc("0.4", "solc-0.4", "0.4.26", "off"),
    _solc("0.4-opt", "solc-0.4", "0.4.26", "on"),
    _solc("0.5", "solc-0.5", "0.5.17", "off"),
    _solc("0.5-opt", "solc-0.5", "0.5.17", "on"),
    _solc("0.6-opt", "solc-0.6", "0.6.12", "on"),
    _solc("0.7", "solc-0.7", "0.7.6", "off"),
    _solc("0.8.4-opt", "solc-0.8.4", "0.8.4", "on"),
    _solc("0.8", "solc", "0.8.37", "off"),
    _solc("0.8-opt", "solc", "0.8.37", "on"),
    _solc("0.8-ir", "solc", "0.8.37", "on", is_new=True),
    Build(name="vyper", suffix=".vy", package="vyper", optimise="gas"),
    Build(name="vyper-small", suffix=".vy", package="vyper", optimise="codesize"),
    Build(name="vyper-off", suffix=".vy", package="vyper", optimise="none"),
    Build(name="vyper-venom", suffix=".vy", package="vyper", optimise="gas", is_new=True),
    Build(name="assembled", suffix=".evm"),
)

HAS_VYPER: Final = importlib.util.find_spec("vyper") is not None
"""Only a machine whose packages are older than the lock has none."""


class Place(msgspec.Struct):
    start: int
    length: int


class Answer(msgspec.Struct):
    code: str = ""
    places: tuple[Place, ...] = ()
    """Places of immutables, which are zeros in the code."""
    refused: str | None = None


def builds_of(case: Case) -> tuple[Build, ...]:
    """All that take the case's source."""
    return tuple(
        build
        for build in BUILDS
        if build.suffix == case.source.suffix and (not build.version or case.accepts(build.version))
    )


def runtime_of(case: Case, build: Build) -> bytes:
    """The code as it would stand on a chain."""
    if build.suffix == ".evm":
        return assemble(case.text)
    code = _compiled(build.package)[case.name, build.name]
    assert isinstance(code, bytes), code
    return code


@cache
def _compiled(package: str) -> dict[tuple[str, str], bytes | str]:
    """All cases by one compiler, so that it starts only once. A text is the compiler's refusal."""
    found: dict[tuple[str, str], bytes | str] = {}
    wanted = []
    archive = read_archive()
    for case, build, request, digest in _requests(package):
        cached = _CACHE / f"{digest}.bin"
        if digest in archive:
            found[case.name, build.name] = bytes.fromhex(archive[digest])
        elif cached.is_file():
            found[case.name, build.name] = cached.read_bytes()
        else:
            wanted.append((cached, (case.name, build.name), request))
    answers = run_compiler(package, [request for _, _, request in wanted]) if wanted else ()
    _CACHE.mkdir(parents=True, exist_ok=True)
    for (cached, names, _), answer in zip(wanted, answers, strict=True):
        code = found[names] = filled(answer)
        if isinstance(code, bytes):
            # Written aside and renamed, so that a second process never reads half a file.
            part = cached.with_suffix(f".{id(code)}.part")
            part.write_bytes(code)
            part.replace(cached)
    return found


PACKAGES: Final = tuple(sorted({build.package for build in BUILDS} - {""}))
"""The compilers."""


def compile_all(package: str, *, only: Collection[str] | None = None) -> dict[str, bytes]:
    """Every case by one compiler, or those of these digests. The archive is not read."""
    found: dict[str, bytes] = {}
    wanted = [one for one in _requests(package) if only is None or one[-1] in only]
    answers = run_compiler(package, [request for _, _, request, _ in wanted])
    for (_, _, _, digest), answer in zip(wanted, answers, strict=True):
        code = filled(answer)
        if isinstance(code, bytes):
            found[digest] = code
    return found


def digests_of(package: str) -> set[str]:
    """Digests of the same cases, whether the compiler takes them or not."""
    return {digest for _, _, _, digest in _requests(package)}


def _requests(package: str) -> Iterator[tuple[Case, Build, dict[str, object], str]]:
    """Yield the requests to one compiler, each with a digest of request and compiler version."""
    version = _version(package)
    for case in load_cases():
        for build in builds_of(case):
            if build.package == package:
                request = _request(case, build)
                digest = hashlib.sha256(version + msgspec.json.encode(request)).hexdigest()
                yield case, build, request, digest


def _version(package: str) -> bytes:
    if package == "vyper":
        return importlib.metadata.version(package).encode()
    return (NODE_MODULES / package / "package.json").read_bytes()


def _request(case: Case, build: Build) -> dict[str, object]:
    text = case.text
    if build.suffix == ".vy":
        return {"source": text, "optimise": build.optimise, "venom": build.is_new}
    name = case.source.relative_to(CASES).as_posix()
    files = {name: text} | {base: (CASES / base).read_text() for base in _IMPORT.findall(text)}
    settings: dict[str, object] = {
        "optimizer": {"enabled": build.optimise == "on", "runs": 200},
        "outputSelection": {"*": {"*": ["evm.deployedBytecode"]}},
    }
    return {
        "file": name,
        "contract": case.name,
        "input": {
            "language": "Solidity",
            "sources": {file: {"content": content} for file, content in sorted(files.items())},
            "settings": settings | ({"viaIR": True} if build.is_new else {}),
        },
    }


def run_compiler(package: str, requests: list[dict[str, object]]) -> tuple[Answer, ...]:
    """Run the compiler of a package, or `vyper`, on all requests."""
    solc = [find_node(), str(CASES / "solc.cjs")]
    vyper = [sys.executable, "-m", "tests.harness.cases.cases_vyper"]
    with tempfile.TemporaryFile() as answer:  # a pipe is cut short when the process ends
        subprocess.run(
            vyper if package == "vyper" else solc,
            input=msgspec.json.encode({"package": package, "requests": requests}),
            stdout=answer,
            timeout=_COMPILE_S,
            check=True,
            cwd=PROJECT_ROOT,
        )
        answer.seek(0)
        return msgspec.json.decode(answer.read(), type=tuple[Answer, ...])


def filled(answer: Answer) -> bytes | str:
    """The runtime code with made-up values where deployment puts some; or why there is none."""
    if answer.refused is not None:
        return answer.refused
    code = bytearray.fromhex(_UNLINKED.sub(_LIBRARY, answer.code.removeprefix("0x")))
    for place in answer.places:
        made_up = IMMUTABLE.rjust(place.length, b"\0")
        code[place.start : place.start + place.length] = made_up
    return bytes(code)


def name_of(value: Case | Build | Miss | str) -> str:
    if isinstance(value, str):
        return value
    return "-".join(value.builds) or "all" if isinstance(value, Miss) else value.name
