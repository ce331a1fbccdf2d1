"""Drill of watches: every change is delivered once and soon, through all kills.

A service on a chain that grows by the clock watches tokens of the demo for one receiver. Owners
change taxes and owners, traders trade, and service and receiver get SIGKILL now and then. Messages
of the receiver are compared with the mined transactions.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import httpx
import msgspec

from assay.demo.anvil import ETHER, AnvilNode, NodeRefusedError, quantity
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World, ZooToken, named_account
from assay.demo.npm_packages import PROJECT_ROOT
from assay.demo.reads import read_address
from assay.demo.trader import Trader
from assay.demo.world import build_world
from core.evm.abi import call_data
from core.evm.primitives import Address
from tests.harness.parts.free_ports import free_port
from tests.harness.watches.webhook_receiver import read_log

T = TypeVar("T")

BLOCK_S = 2
_PATIENCE_S = 90.0
_GAS = 300_000
_SETTINGS = """
[watches]
allow_http = true
allow_private = true
timeout_s = 2.0

[indexer]
changed_every_blocks = 1

[analysis]
rounds_every_s = 1.0
background_refresh_s = 86400.0
"""
_TAXED = {"buy_tax", "sell_tax", "both_tax"}
_KINDS = ("owner", "tax")


class MinedChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change that was mined."""

    token: Address
    what: str
    """owner_address or sell_tax."""
    after: str
    block_number: int
    mined_at_s: float
    was_up: bool
    """False: the service was down in its block or the two after it."""


class DrillOutcome(msgspec.Struct, kw_only=True):
    """Outcome of one drill."""

    tokens: int = 0
    changes: list[MinedChange] = msgspec.field(default_factory=list)
    service_kills: int = 0
    receiver_kills: int = 0
    lost: list[MinedChange] = msgspec.field(default_factory=list)
    """Changes without a message."""
    doubled: list[str] = msgspec.field(default_factory=list)
    """Changes in two messages of different ids."""
    unexplained: list[str] = msgspec.field(default_factory=list)
    """Messages without a mined change."""
    blocks_late: list[int] = msgspec.field(default_factory=list)
    """Blocks from the change to its report, where the service was up."""
    caused: int = 0
    """Changes reported with a cause that was seen in their block."""
    repeated: int = 0
    """Messages that the receiver took more than once, by the same id."""


class Drill:
    """One drill; `run` is all there is."""

    def __init__(self, *, tokens: int, changes: int, kills: int, seed: int) -> None:
        self._wanted = tokens
        self._changes = changes
        self._kills = kills
        self._dice = random.Random(seed)  # noqa: S311 - chance, not secrecy
        self._outcome = DrillOutcome()
        self._down_blocks: set[int] = set()

    def run(self) -> DrillOutcome:
        """Run it to its end."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-drill-")))
            self._node = stack.enter_context(AnvilNode())
            world = build_world(self._node)
            self._env = self._deploy(world, folder)
            self._tokens = self._choose(world)
            self._owners = dict.fromkeys((token.address for token in self._tokens), world.owner)
            self._outcome.tokens = len(self._tokens)
            self._log, self._receiver_port = folder / "receiver.log", free_port()
            self._port = free_port()
            key = self._assay("keys", "create", "--plan", "admin", "--label", "drill")
            self._api = stack.enter_context(
                httpx.Client(
                    base_url=f"http://127.0.0.1:{self._port}",
                    headers={"X-API-Key": key},
                    timeout=30,
                )
            )
            stack.callback(self._stop_all)
            self._start_service()
            self._secret_text = self._watch()
            self._start_receiver()
            self._await_baseline()
            self._node.set_interval(BLOCK_S)
            with _trading(self._node, world):
                self._make_changes()
            self._await_all()
            self._judge()
        return self._outcome

    # --- the deployment -----------------------------------------------------------------------

    def _deploy(self, world: World, folder: Path) -> dict[str, str]:
        write_overlay(world, folder, more=_SETTINGS)
        chain = folder / "chains" / "ethereum.toml"
        text = chain.read_text(encoding="utf-8")
        chain.write_text(text.replace("block_time_s = 1\n", f"block_time_s = {BLOCK_S}\n"))
        kept = {name: each for name, each in os.environ.items() if not name.startswith("ASSAY_")}
        return {
            **kept,
            "ASSAY_RPC_1": self._node.url,
            "ASSAY_CONFIG": str(folder),
            "ASSAY_STORE": str(folder / "store.duckdb"),
        }

    def _choose(self, world: World) -> list[ZooToken]:
        """Return tokens whose owner can be changed, first those whose taxes can be."""
        owned = []
        for token in sorted(world.tokens, key=lambda token: token.key not in _TAXED):
            hand = call_data("transferOwnership(address)", world.deployer)
            call = {"from": world.owner, "to": token.address, "data": hand, "gas": hex(_GAS)}
            try:
                owner = read_address(self._node, token.address, "owner()")
                self._node.rpc("eth_call", call, "latest")
            except (NodeRefusedError, ValueError):
                continue
            if owner == world.owner and "symbol" not in token.key:
                owned.append(token)
        return owned[: self._wanted]

    def _assay(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "assay", *arguments],
            cwd=PROJECT_ROOT,
            env=self._env,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def _start_service(self) -> None:
        self._service = _start("assay", "serve", "--port", str(self._port), env=self._env)
        _until(self._is_ready)

    def _is_ready(self) -> bool:
        try:
            return self._api.get("/ready").is_success
        except httpx.TransportError:
            return False

    def _start_receiver(self) -> None:
        port, log = str(self._receiver_port), str(self._log)
        self._receiver = _start(
            "tests.harness.watches.webhook_receiver", port, self._secret_text, log, env=self._env
        )

    def _stop_all(self) -> None:
        for name in ("_service", "_receiver"):
            process = getattr(self, name, None)
            if process is not None:
                _kill(process)

    def _watch(self) -> str:
        addresses = [token.address for token in self._tokens]
        body = {
            "name": "drill",
            "kinds": list(_KINDS),
            "tokens": [{"chain": "ethereum", "addresses": addresses}],
            "webhook_url": f"http://127.0.0.1:{self._receiver_port}/",
        }
        made = self._api.post("/watches", json=body)
        made.raise_for_status()
        return str(made.json()["secret"])

    def _await_baseline(self) -> None:
        def has_all() -> bool:
            self._node.mine()
            time.sleep(0.5)
            rows = self._api.get("/watches/1/tokens").json()["tokens"]
            return not any(row["is_awaiting"] for row in rows)

        _until(has_all)

    # --- what happens -------------------------------------------------------------------------

    def _make_changes(self) -> None:
        kill_at = sorted(self._dice.sample(range(1, self._changes), self._kills))
        for number in range(self._changes):
            if number in kill_at:
                self._kill_one(is_service=kill_at.index(number) % 2 == 0)
            token = self._tokens[number % len(self._tokens)]
            is_tax = token.key in _TAXED and self._dice.random() < 0.5
            change = (
                self._change_tax(token, number) if is_tax else self._change_owner(token, number)
            )
            self._outcome.changes.append(change)
            time.sleep(self._dice.random() * BLOCK_S)

    def _kill_one(self, *, is_service: bool) -> None:
        if not is_service:
            self._outcome.receiver_kills += 1
            _kill(self._receiver)
            self._start_receiver()
            return
        self._outcome.service_kills += 1
        first = self._node.head_number()
        _kill(self._service)
        self._start_service()
        self._down_blocks.update(range(first - 2, self._node.head_number() + 2))

    def _change_owner(self, token: ZooToken, number: int) -> MinedChange:
        new = named_account(f"drill owner {number}")
        data = call_data("transferOwnership(address)", new)
        block = self._send(self._owners[token.address], token.address, data)
        self._owners[token.address] = new
        return self._mined(token, "owner_address", new, block)

    def _change_tax(self, token: ZooToken, number: int) -> MinedChange:
        rate = 1 + number % 29  # 30 is the most that they take
        data = call_data("setFees(uint256,uint256)", 1, rate)
        block = self._send(self._owners[token.address], token.address, data)
        return self._mined(token, "sell_tax", str(rate), block)

    def _mined(self, token: ZooToken, what: str, after: str, block: int) -> MinedChange:
        return MinedChange(
            token=token.address,
            what=what,
            after=after,
            block_number=block,
            mined_at_s=time.time(),
            was_up=block not in self._down_blocks,
        )

    def _send(self, sender: Address, to: Address, data: str) -> int:
        self._node.set_balance(sender, ETHER)
        sent = self._node.send({"from": sender, "to": to, "data": data, "gas": hex(_GAS)})
        receipt = _until(lambda: self._node.rpc("eth_getTransactionReceipt", sent))
        if not isinstance(receipt, dict) or quantity(receipt["status"]) != 1:
            raise AssertionError((to, data, receipt))
        return quantity(receipt["blockNumber"])

    # --- what came of it ----------------------------------------------------------------------

    def _told(self) -> Iterator[tuple[str, Address, str, str, int, list[int]]]:
        """Yield message id, token, kind, new value, report's block, and blocks of causes."""
        for message in {one.id: one for one in read_log(self._log)}.values():
            data = msgspec.convert(message.body["data"], dict[str, object])
            block = msgspec.convert(data["block"], dict[str, object])
            causes = msgspec.convert(data["causes"], list[dict[str, object]])
            for change in msgspec.convert(data["changes"], list[dict[str, str]]):
                if change["what"] in ("owner_address", "sell_tax"):
                    yield (
                        message.id,
                        Address(str(data["contract_address"]).lower()),
                        change["what"],
                        change["after"],
                        int(str(block["number"])),
                        [int(str(cause["block_number"])) for cause in causes],
                    )

    def _await_all(self) -> None:
        """Wait until everything is delivered, at most for the patience."""
        ends_s = time.monotonic() + _PATIENCE_S
        while time.monotonic() < ends_s and not all(
            any(_is_of(change, delivery) for delivery in self._told())
            for change in self._outcome.changes
        ):
            time.sleep(0.5)
        time.sleep(2 * BLOCK_S)  # for changes delivered twice

    def _judge(self) -> None:
        outcome = self._outcome
        for change in outcome.changes:
            delivery = [one for one in self._told() if _is_of(change, one)]
            if not delivery:
                outcome.lost.append(change)
                continue
            if len({one[0] for one in delivery}) > 1:
                outcome.doubled.append(f"{change.token} {change.what} {change.after}")
            if change.was_up and change.block_number not in self._down_blocks:
                outcome.blocks_late.append(delivery[0][4] - change.block_number)
            outcome.caused += change.block_number in delivery[0][5]
        outcome.unexplained = [
            f"{token} {what} {after}"
            for _, token, what, after, _, _ in self._told()
            if not any(
                _is_of(change, ("", token, what, after, 0, [])) for change in outcome.changes
            )
        ]
        taken = [one.id for one in read_log(self._log)]
        outcome.repeated = len(taken) - len(set(taken))


def _is_of(change: MinedChange, delivery: tuple[str, Address, str, str, int, list[int]]) -> bool:
    _, token, what, after, _, _ = delivery
    if (token, what) != (change.token, change.what):
        return False
    if what == "owner_address":
        return after == change.after
    return abs(float(after) - float(change.after)) < 0.1


@contextmanager
def _trading(node: AnvilNode, world: World) -> Iterator[None]:
    """Have traders trade during the block."""
    stop = threading.Event()
    trader = threading.Thread(target=Trader(node, world).run, args=(stop,))
    trader.start()
    try:
        yield
    finally:
        stop.set()
        trader.join()


def _start(module: str, *arguments: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=PROJECT_ROOT,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    """With everything that it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _until(delivery: Callable[[], T]) -> T:
    """Return the first true value. Raises TimeoutError."""
    ends_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < ends_s:
        answer = delivery()
        if answer:
            return answer
        time.sleep(0.05)
    raise TimeoutError
