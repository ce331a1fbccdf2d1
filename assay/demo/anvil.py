"""The embedded chain: a real anvil process, started, awaited, driven and always stopped."""

import platform
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import requests
from web3 import HTTPProvider
from web3.types import RPCEndpoint, RPCResponse

from assay.demo.node_process import find_free_port, signal_child, start_child, stop_child
from assay.demo.npm_packages import NODE_MODULES
from core.errors import ConfigError, UpstreamError
from core.evm.primitives import Address, Hash32
from core.rpc.messages import RpcFault, RpcRequest

ETHER = 10**18
_STATES_KEPT = 64
"""Default number of old block states in memory. Without a bound anvil writes them to the home
folder for ever."""
_BLOCK_GAS = 60_000_000
_BEHIND_S = 10
"""Seconds before now at which the chain begins, so that set-up blocks are not in the future."""
_START_TRIES = 3
_START_S = 20.0
_ANSWER_S = 30.0
_SILENT_S = 0.3

_PLATFORMS = {
    ("Linux", "x86_64"): "linux-amd64",
    ("Linux", "aarch64"): "linux-arm64",
    ("Darwin", "x86_64"): "darwin-amd64",
    ("Darwin", "arm64"): "darwin-arm64",
}


def locate_anvil(node_modules: Path = NODE_MODULES) -> Path:
    """The node's binary among the installed npm packages.

    Raises ConfigError where it is not installed or this machine has no build of it.
    """
    machine = (platform.system(), platform.machine())
    build = _PLATFORMS.get(machine)
    if build is None:
        raise ConfigError(
            source="demo", key="anvil", reason=f"no build for {' '.join(machine)} is published"
        )
    binary = node_modules / "@foundry-rs" / f"anvil-{build}" / "bin" / "anvil"
    if not binary.is_file():
        raise ConfigError(
            source=str(binary), key="anvil", reason="not installed; run `make setup` first"
        )
    return binary


class NodeRefusedError(UpstreamError):
    """The node answered a request with an error object."""

    def __init__(self, *, method: str, fault: RpcFault) -> None:
        super().__init__(service="anvil", reason=f"{method}: {fault.message}")
        self.method = method
        self.fault = fault


class AnvilNode:
    """An anvil process on its port, for the duration of the `with` block.

    Every account is unlocked: `eth_sendTransaction` works from any address. Methods mine blocks,
    each one second after the last; after `set_interval` the clock does. (Not one block per
    transaction: anvil clears its pool a moment after such a block, and after a `revert` that can
    remove the new transaction with the old one's nonce.) Requests may come from several threads.
    All methods raise UpstreamError when the node does not answer, and NodeRefusedError when it
    answers with an error.
    """

    def __init__(
        self, *, chain_id: int = 1, port: int | None = None, states_kept: int = _STATES_KEPT
    ) -> None:
        """`port` None: a free one, chosen at start."""
        self._states_kept = states_kept
        self.chain_id = chain_id
        self._wanted_port = port
        self._port = 0
        self._child: subprocess.Popen[bytes] | None = None
        self._session: requests.Session | None = None
        self._provider: HTTPProvider | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start and wait until it answers. An empty chain every time.

        Raises ConfigError when the binary is missing, UpstreamError when it does not come up.
        """
        binary = locate_anvil()
        for _ in range(_START_TRIES):
            # Between choosing a free port and binding it another process may take it.
            self._port = self._wanted_port or find_free_port()
            self._connect()
            self._child = self._launch(binary)
            if self._await_answer():
                return
            self.stop()
        raise UpstreamError(service="anvil", reason=f"did not start on port {self._port}")

    def stop(self) -> None:
        """End the process group. Harmless when it is not running.

        The chain is gone with it; `start` brings up an empty one.
        """
        child, self._child = self._child, None
        if child is None:
            return
        stop_child(child)
        if self._session is not None:
            self._session.close()

    def freeze(self) -> None:
        """Keep the node from answering while its port stays open, until `thaw`.

        Returns once it is silent: a stop signal takes a moment to reach every thread.
        """
        signal_child(self._running(), signal.SIGSTOP)
        while self._answers_soon():
            time.sleep(0.01)

    def _answers_soon(self) -> bool:
        """True if a request gets any byte; a running node is never silent this long."""
        with socket.create_connection(("127.0.0.1", self._port), timeout=_SILENT_S) as probe:
            probe.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try:
                return bool(probe.recv(1))
            except TimeoutError:
                return False

    def thaw(self) -> None:
        """Let a frozen node go on."""
        signal_child(self._running(), signal.SIGCONT)

    @property
    def url(self) -> str:
        """HTTP address; the same host and port answer as WebSocket."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def ws_url(self) -> str:
        """WebSocket address."""
        return f"ws://127.0.0.1:{self._port}"

    @property
    def port(self) -> int:
        """TCP port in use; 0 before the first start."""
        return self._port

    def _launch(self, binary: Path) -> subprocess.Popen[bytes]:
        return start_child(
            [
                str(binary),
                "--host=127.0.0.1",
                f"--port={self._port}",
                f"--chain-id={self.chain_id}",
                f"--prune-history={self._states_kept}",
                f"--gas-limit={_BLOCK_GAS}",
                f"--timestamp={int(time.time()) - _BEHIND_S}",
                "--auto-impersonate",
                "--no-mining",
                "--no-request-size-limit",
                "--quiet",
            ]
        )

    def _await_answer(self) -> bool:
        deadline = time.monotonic() + _START_S
        child = self._running()
        while time.monotonic() < deadline and child.poll() is None:
            try:
                answers = self.rpc_batch(
                    # Left alone, anvil gives blocks of one second the same time.
                    [RpcRequest("eth_chainId"), RpcRequest("anvil_setBlockTimestampInterval", (1,))]
                )
            except UpstreamError:
                time.sleep(0.02)
            else:
                return answers[0] == hex(self.chain_id)
        return False

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            raise UpstreamError(service="anvil", reason="is not running")
        return self._child

    def rpc(self, method: str, *params: object) -> object:
        """Send one request; return its decoded `result`."""
        return self.rpc_batch([RpcRequest(method, params)])[0]

    def rpc_batch(self, batch: Sequence[RpcRequest]) -> list[object]:
        """Send many requests in one round trip; return the results in the same order.

        Raises NodeRefusedError for the first refused request.
        """
        answers = self.try_batch(batch)
        for answer in answers:
            if isinstance(answer, NodeRefusedError):
                raise answer
        return answers

    def try_batch(self, batch: Sequence[RpcRequest]) -> list[object]:
        """As `rpc_batch`, with errors in the places of refused requests."""
        if self._provider is None:
            raise UpstreamError(service="anvil", reason="is not running")
        if not batch:
            return []  # JSON-RPC has no empty batch
        calls = [(RPCEndpoint(one.method), one.params) for one in batch]
        try:
            answers = self._provider.make_batch_request(calls)
        except (requests.RequestException, ValueError) as error:
            raise UpstreamError(service="anvil", reason=str(error) or repr(error)) from error
        if not isinstance(answers, list) or len(answers) != len(batch):
            raise UpstreamError(service="anvil", reason=f"no answer to each of {len(batch)}")
        return [_result(one, answer) for one, answer in zip(batch, answers, strict=True)]

    def _connect(self) -> None:
        # One session for all threads, so that `stop` can close it; its pool is thread-safe.
        self._session = requests.Session()
        self._session.trust_env = False  # no proxy for this machine
        self._provider = HTTPProvider(
            self.url, request_kwargs={"timeout": _ANSWER_S}, session=self._session
        )

    def mine(self, blocks: int = 1) -> None:
        """Mine blocks, each one second after the last."""
        self.rpc("anvil_mine", hex(blocks))

    def increase_time(self, seconds: int) -> None:
        """Mine a block that is this many seconds later than the head."""
        self.set_time(self.head_time() + seconds)

    def set_time(self, time_s: int) -> None:
        """Mine a block of exactly this Unix time, which must be later than the head's."""
        self.rpc("evm_setNextBlockTimestamp", time_s)
        self.mine()

    def head_number(self) -> int:
        """Return the number of the newest block."""
        return quantity(self.rpc("eth_blockNumber"))

    def head_time(self) -> int:
        """Return the Unix time of the newest block."""
        block = self.rpc("eth_getBlockByNumber", "latest", False)
        if not isinstance(block, dict):
            raise UpstreamError(service="anvil", reason="has no newest block")
        return quantity(block["timestamp"])

    def snapshot(self) -> str:
        """Take a snapshot, valid for one `revert`."""
        return str(self.rpc("evm_snapshot"))

    def revert(self, snapshot: str) -> None:
        """Return to a snapshot, blocks included."""
        if self.rpc("evm_revert", snapshot) is not True:
            raise UpstreamError(service="anvil", reason=f"snapshot {snapshot} is gone")

    def reorg(self, depth: int, transactions: Sequence[tuple[object, int]] = ()) -> None:
        """Replace the newest `depth` blocks by as many others.

        `transactions` are (raw transaction or request object, offset of its block from 0).
        """
        self.rpc("anvil_reorg", depth, [list(pair) for pair in transactions])

    def set_balance(self, account: Address, wei: int) -> None:
        """Set the native balance of an account."""
        self.rpc("anvil_setBalance", account, hex(wei))

    def set_interval(self, seconds: int | None) -> None:
        """Mine a block at this interval, by the clock. None: only on request."""
        self.rpc("evm_setIntervalMining", seconds or 0)
        if seconds is None:
            self.rpc("anvil_setBlockTimestampInterval", 1)
        else:
            self.rpc("anvil_removeBlockTimestampInterval")

    def accounts(self) -> list[Address]:
        """Return the ten funded accounts of every anvil, with 10,000 native coins each."""
        listed = self.rpc("eth_accounts")
        if not isinstance(listed, list):
            raise UpstreamError(service="anvil", reason="lists no accounts")
        return [Address(str(account).lower()) for account in listed]

    def send(self, transaction: dict[str, str]) -> Hash32:
        """Send a transaction from any account, for the next block; return its hash."""
        return Hash32(str(self.rpc("eth_sendTransaction", transaction)))

    def execute(self, transaction: dict[str, str]) -> dict[str, object]:
        """Send a transaction from any account and mine it; return its receipt."""
        sent = self.send(transaction)
        self.mine()
        receipt = self.rpc("eth_getTransactionReceipt", sent)
        if not isinstance(receipt, dict):
            raise UpstreamError(service="anvil", reason=f"did not mine {sent}")
        return receipt


def _result(request: RpcRequest, answer: RPCResponse) -> object:
    """Return the answer, or NodeRefusedError as a value."""
    error = answer.get("error")
    if error is None:
        return answer.get("result")
    text: object = error
    if isinstance(text, str):
        return NodeRefusedError(method=request.method, fault=RpcFault(code=0, message=text))
    data = error.get("data")
    fault = RpcFault(
        code=error["code"], message=error["message"], data=data if isinstance(data, str) else None
    )
    return NodeRefusedError(method=request.method, fault=fault)


def quantity(value: object) -> int:
    """Read a JSON-RPC quantity."""
    return int(str(value), 16)
