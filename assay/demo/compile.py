"""Contracts ready to deploy: the demo's compiled with solc, the exchanges' as packaged.

No compiled code is shipped. Compiler output is cached under a hash of sources, settings and
compiler version; of processes that need the same output, one compiles.
"""

import fcntl
import hashlib
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec

from assay.demo.npm_packages import CACHE, NODE_MODULES, find_node
from core.errors import ConfigError, InternalError

_CONTRACTS = Path(__file__).resolve().parent / "contracts"
_CACHE = CACHE / "compiled"
_COMPILE_S = 300.0

_SETTINGS = {"optimizer": {"enabled": True, "runs": 200}, "evmVersion": "cancun"}
_OUTPUTS = {"*": ["abi", "evm.bytecode.object"]}

_COMPILERS = 2
"""Concurrent compiler runs for the demo's contracts; each uses one core."""

# Paris has no PUSH0, so the code runs on every chain; without metadata it depends on the source
# and the compiler alone.
_RUNTIME_SETTINGS = {
    "optimizer": {"enabled": True, "runs": 200},
    "evmVersion": "paris",
    "metadata": {"appendCBOR": False, "bytecodeHash": "none"},
    "outputSelection": {"*": {"*": ["abi", "evm.deployedBytecode.object"]}},
}

# Where each package keeps the artefact of a contract that the demo deploys as it is.
_SHIPPED = {
    "WETH9": "@uniswap/v2-periphery/build/WETH9.json",
    "UniswapV2Factory": "@uniswap/v2-core/build/UniswapV2Factory.json",
    "UniswapV2Pair": "@uniswap/v2-core/build/UniswapV2Pair.json",
    "UniswapV2Router02": "@uniswap/v2-periphery/build/UniswapV2Router02.json",
    "UniswapV3Factory": (
        "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"
    ),
    "SwapRouter": "@uniswap/v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json",
    "NonfungiblePositionManager": (
        "@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol"
        "/NonfungiblePositionManager.json"
    ),
    "QuoterV2": "@uniswap/v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json",
    "PoolManager": "@uniswap/v4-core/out/PoolManager.sol/PoolManager.json",
    "PositionManager": (
        "@uniswap/v4-periphery/foundry-out/PositionManager.sol/PositionManager.json"
    ),
    "PoolModifyLiquidityTest": (
        "@uniswap/v4-core/out/PoolModifyLiquidityTest.sol/PoolModifyLiquidityTest.json"
    ),
    "PoolSwapTest": "@uniswap/v4-core/out/PoolSwapTest.sol/PoolSwapTest.json",
    "FeeTakingHook": "@uniswap/v4-core/out/FeeTakingHook.sol/FeeTakingHook.json",
    "DeltaReturningHook": "@uniswap/v4-core/out/DeltaReturningHook.sol/DeltaReturningHook.json",
    "DynamicReturnFeeTestHook": (
        "@uniswap/v4-core/out/DynamicReturnFeeTestHook.sol/DynamicReturnFeeTestHook.json"
    ),
    "UniswapV3Pool": "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json",
    "PancakeV3Factory": (
        "@pancakeswap/v3-core/artifacts/contracts/PancakeV3Factory.sol/PancakeV3Factory.json"
    ),
    "PancakeV3Pool": (
        "@pancakeswap/v3-core/artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json"
    ),
    "AlgebraFactory": (
        "@cryptoalgebra/integral-core/artifacts/contracts/AlgebraFactory.sol/AlgebraFactory.json"
    ),
    "AlgebraPoolDeployer": (
        "@cryptoalgebra/integral-core/artifacts/contracts/AlgebraPoolDeployer.sol"
        "/AlgebraPoolDeployer.json"
    ),
    "AlgebraSwapRouter": (
        "@cryptoalgebra/integral-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json"
    ),
    "AlgebraPositions": (
        "@cryptoalgebra/integral-periphery/artifacts/contracts/NonfungiblePositionManager.sol"
        "/NonfungiblePositionManager.json"
    ),
}


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """One contract, ready to deploy."""

    name: str
    creation: str
    """Creation code as hex without 0x."""
    constructor: tuple[str, ...]
    """ABI types of the constructor's arguments."""


Artifacts = dict[str, Artifact]
"""Artifacts by contract name."""


class _Argument(msgspec.Struct):
    type: str


class _Entry(msgspec.Struct):
    type: str
    inputs: tuple[_Argument, ...] = ()


class _Code(msgspec.Struct, frozen=True):
    object: str


class _Evm(msgspec.Struct, rename="camel"):
    bytecode: _Code = _Code(object="")
    deployed_bytecode: _Code = _Code(object="")


class _Compiled(msgspec.Struct):
    abi: tuple[_Entry, ...]
    evm: _Evm | None = None
    """None: an interface, which has no code."""


class _Message(msgspec.Struct):
    severity: str
    formattedMessage: str  # noqa: N815 - solc's name


class _Output(msgspec.Struct):
    errors: tuple[_Message, ...] = ()
    contracts: dict[str, dict[str, _Compiled]] = {}


class _ShippedFile(msgspec.Struct):
    abi: tuple[_Entry, ...]
    bytecode: str | _Code


class _Package(msgspec.Struct):
    version: str


def load_artifacts(node_modules: Path = NODE_MODULES) -> Artifacts:
    """Load all contracts of the demo; compile its sources unless cached.

    Raises ConfigError where the npm packages are not installed, CompileError where a contract of
    ours does not compile.
    """
    shipped = {name: load_shipped(name, path, node_modules) for name, path in _SHIPPED.items()}
    return shipped | {artifact.name: artifact for artifact in _load_own(node_modules)}


def load_shipped(name: str, path: str, node_modules: Path = NODE_MODULES) -> Artifact:
    """Load one contract as its package ships it. `path`: among the npm packages. Raises ConfigError
    where the package is not installed."""
    file = msgspec.json.decode(_read(node_modules / path), type=_ShippedFile)
    code = file.bytecode if isinstance(file.bytecode, str) else file.bytecode.object
    return _artifact(name, code, file.abi)


def compile_sources(sources: Mapping[str, str], node_modules: Path = NODE_MODULES) -> Artifacts:
    """Compile contracts from Solidity texts by file name, unless cached.

    Raises ConfigError where the npm packages are not installed, CompileError.
    """
    return {artifact.name: artifact for artifact in _load_compiled(sources, node_modules)}


def compile_runtime(source: Path, node_modules: Path = NODE_MODULES) -> str:
    """Compile the contract named like its source file; return its runtime code as hex without 0x.

    Cached; used to check committed code. Raises ConfigError, CompileError.
    """
    request = {
        "language": "Solidity",
        "sources": {source.name: {"content": source.read_text()}},
        "settings": _RUNTIME_SETTINGS,
    }
    made = _answer(request, node_modules).contracts[source.name][source.stem]
    if made.evm is None or not made.evm.deployed_bytecode.object:
        raise CompileError(reason=f"{source.name} makes no code")
    return made.evm.deployed_bytecode.object


class CompileError(InternalError):
    """The compiler did not run, or rejected a contract."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(f"solc: {reason}")
        self.reason = reason


def _load_own(node_modules: Path) -> tuple[Artifact, ...]:
    sources = {
        path.relative_to(_CONTRACTS).as_posix(): path.read_text()
        for path in sorted(_CONTRACTS.rglob("*.sol"))
    }
    return _load_compiled(sources, node_modules, runs=_COMPILERS)


def _load_compiled(
    sources: Mapping[str, str], node_modules: Path, *, runs: int = 1
) -> tuple[Artifact, ...]:
    requests = [
        {
            "language": "Solidity",
            "sources": {name: {"content": text} for name, text in sources.items()},
            "settings": _SETTINGS | {"outputSelection": dict.fromkeys(files, _OUTPUTS)},
        }
        for files in _shares(sources, runs)
    ]
    with ThreadPoolExecutor(runs) as threads:
        answers = list(threads.map(lambda request: _answer(request, node_modules), requests))
    return tuple(
        _artifact(name, contract.evm.bytecode.object, contract.abi)
        for answer in answers
        for file in answer.contracts.values()
        for name, contract in file.items()
        if contract.evm is not None and contract.evm.bytecode.object
    )


def _shares(sources: Mapping[str, str], runs: int) -> list[list[str]]:
    """Divide the files among the compiler runs, by about equal size."""
    shares = [list[str]() for _ in range(runs)]
    for name in sorted(sources, key=lambda name: -len(sources[name])):
        min(shares, key=lambda share: sum(len(sources[one]) for one in share)).append(name)
    return [share for share in shares if share]


def _answer(question: Mapping[str, object], node_modules: Path) -> _Output:
    """Return the compiler's output, or the cached one."""
    package = _read(node_modules / "solc" / "package.json")
    version = msgspec.json.decode(package, type=_Package).version
    request = msgspec.json.encode(question)
    digest = hashlib.sha256(version.encode() + b"\0" + request).hexdigest()
    cached = _CACHE / f"{digest}.json"
    with _locked(digest):
        if cached.is_file():
            return msgspec.json.decode(cached.read_bytes(), type=_Output)
        made = _run(request, node_modules)
        # Written to another name and renamed, so that an interruption leaves no partial file.
        part = cached.with_suffix(".part")
        part.write_bytes(msgspec.json.encode(made))
        part.replace(cached)
        return made


@contextmanager
def _locked(digest: str) -> Iterator[None]:
    """Lock a cache entry: a waiting process finds the output of the other one afterwards."""
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / f"{digest}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(request: bytes, node_modules: Path) -> _Output:
    # Through files, not pipes: solc.js reads only the bytes that a pipe has already, and exits with
    # process.exit, which truncates a pipe.
    with tempfile.TemporaryFile() as question, tempfile.TemporaryFile() as answer:
        question.write(request)
        question.seek(0)
        ran = subprocess.run(
            [find_node(), str(node_modules / "solc" / "solc.js"), "--standard-json"],
            stdin=question,
            stdout=answer,
            stderr=subprocess.PIPE,
            timeout=_COMPILE_S,
            check=False,
        )
        answer.seek(0)
        text = answer.read()
    start = text.find(b"{")  # after a notice about solvers
    if ran.returncode != 0 or start < 0:
        raise CompileError(reason=ran.stderr.decode(errors="replace").strip() or "no output")
    output = msgspec.json.decode(text[start:], type=_Output)
    refused = [message for message in output.errors if message.severity == "error"]
    if refused:
        raise CompileError(reason="\n".join(message.formattedMessage for message in refused))
    return output


def _artifact(name: str, code: str, abi: tuple[_Entry, ...]) -> Artifact:
    constructors = [entry for entry in abi if entry.type == "constructor"]
    types = tuple(argument.type for entry in constructors for argument in entry.inputs)
    return Artifact(name=name, creation=code.removeprefix("0x"), constructor=types)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(
            source=str(path), key="npm", reason="not installed; run `make setup` first"
        ) from None
