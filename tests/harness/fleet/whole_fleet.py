"""A whole fleet on real servers and a real chain.

Two processes of each role on one PostgreSQL, one Valkey and a lake in S3; every link between a
process and a server goes through a separate proxy.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import httpx
import msgspec
import psycopg

from assay.demo.npm_packages import PROJECT_ROOT
from assay.service.follow_role import follow_lease
from config.object_store import ObjectStoreKeys
from config.plans import load_plans
from config.store_address import PostgresAddress
from core.evm.primitives import Address
from core.process.secret import Secret
from sql.accounts.ledger import Ledger
from sql.chain.blocks import FOLLOW
from sql.engine.store import Store
from sql.lake.postgres.lake_in_postgres import COMPACTION
from tests.harness.fault_simulation.stored_rows import StoredRows, read_fleet_store
from tests.harness.fleet.answer_check import CalmAnswer, read_calm
from tests.harness.fleet.fleet_member import FleetMember, Links, Part, Role, linked
from tests.harness.fleet.run_audit import keep_audit
from tests.harness.fleet.traded_chain import TradedChain, traded_chain
from tests.harness.parts.postgres_server import PostgresServer, running_postgres
from tests.harness.parts.s3_server import S3Server, can_make_small_disks, running_s3
from tests.harness.parts.server_process import PartFailedError
from tests.harness.parts.valkey_server import ValkeyServer, running_valkey

ROLES: Final[tuple[Role, ...]] = ("follow", "analyse", "api")
EACH: Final = 2

_BUCKET: Final = "lake"
_DISK_MB: Final = 64
_CONNECTIONS: Final = 300
_DRAIN_S: Final = "1"
_CALM_S: Final = 120.0
_LOOK_EVERY_S: Final = 0.1
_ANSWER_S: Final = 30.0
_LEASE: Final = "select holder from lease where name = %s and expires_at > clock_timestamp()"
_TIP: Final = "select number, '0x' || encode(hash, 'hex') from checkpoint where stream = %s"
_LAKE_TOKEN: Final = "select token from lease where name = %s"
_ENDED_RUN: Final = "select ended_run from analysis_run where address = decode(%s, 'hex')"
_OPEN_RUNS: Final = """
    select count(*) from analysis_run where chain_id = %s and (holder is not null or wanted > 0)
"""
_LAKE_FILES: Final = """
    select count(*) from public_lake.ducklake_data_file where end_snapshot is not distinct from %s
"""

T = TypeVar("T")


class FleetParts(msgspec.Struct, frozen=True, kw_only=True):
    """The servers that a fleet runs on."""

    postgres: PostgresServer
    valkey: ValkeyServer
    objects: S3Server
    has_small_disk: bool
    """The disk of the objects can be filled."""


class WholeFleet:
    """The running fleet, seen over links that never fail."""

    def __init__(
        self,
        chain: TradedChain,
        parts: FleetParts,
        address: PostgresAddress,
        members: Mapping[str, FleetMember],
        compactor: FleetMember,
        ledger: Ledger,
    ) -> None:
        """A running fleet.

        `compactor`: never started; its links and environment are those of manual moves to the lake.
        """
        self.chain: Final = chain
        self.parts: Final = parts
        self.address: Final = address
        self.members: Final = members
        self.compactor: Final = compactor
        self.ledger: Final = ledger
        self.url: Final = address.url.value

    @property
    def servers(self) -> list[FleetMember]:
        """Processes that answer requests."""
        return [one for one in self.members.values() if one.role == "api"]

    def leader(self) -> FleetMember:
        """Return the follower of the chain. Raises PartFailedError when there is none for long."""

        def find() -> FleetMember | None:
            row = self._row(_LEASE, follow_lease(self.chain.facts.id))
            holder = "" if row is None else str(row[0])
            named = (one for one in self.members.values() if f"-{one.pids[-1]}-" in holder)
            return next(named, None)

        return until(find, "nobody follows the chain", within_s=_CALM_S)

    def has_followed(self, number: int) -> bool:
        """True if a block of the chain with that number, or a later one, is stored."""
        row = self._row(_TIP, FOLLOW)
        if row is None or int(str(row[0])) < number:
            return False
        return self.chain.hash_at(int(str(row[0]))) == row[1]

    def ended_run(self, token: Address) -> int:
        """Number of the last analysis of a token that has ended."""
        row = self._row(_ENDED_RUN, token[2:])
        return 0 if row is None else int(str(row[0]))

    def open_runs(self) -> int:
        """Return the analyses that are requested or running."""
        row = self._row(_OPEN_RUNS, self.chain.facts.id)
        return 0 if row is None else int(str(row[0]))

    def lake_files(self) -> int:
        """Files of the lake that hold rows now."""
        row = self._row(_LAKE_FILES, None)
        return 0 if row is None else int(str(row[0]))

    def read(self) -> StoredRows:
        """All of store and lake, at a moment at which nobody moves rows between them."""
        for _ in range(3):
            before = self._row(_LAKE_TOKEN, COMPACTION)
            stored = read_fleet_store(self.address)
            if self._row(_LAKE_TOKEN, COMPACTION) == before:
                return stored
        message = "rows are moved to the lake all the time"
        raise PartFailedError(message)

    def compact(self) -> "subprocess.Popen[bytes]":
        """Begin to move all final rows to the lake, as a person does."""
        return subprocess.Popen(
            (sys.executable, "-m", "assay", "compact", self.chain.facts.slug),
            cwd=PROJECT_ROOT,
            env=self.compactor.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def ask_calmly(self) -> dict[Address, CalmAnswer]:
        """Return the fleet's answer on each token before the first fault."""
        key = self.ledger.create_key(load_plans()["admin"], "calm", time.time()).plaintext
        headers = {"X-API-Key": key}
        with httpx.Client(base_url=self.servers[0].url, headers=headers, timeout=_ANSWER_S) as api:

            def ask(token: Address) -> CalmAnswer | None:
                answer = api.get(f"/token/1/{token}/summary")
                return read_calm(answer.content) if answer.status_code == httpx.codes.OK else None

            return {
                token.address: until(
                    partial(ask, token.address),
                    f"{token.address} does not settle",
                    within_s=_CALM_S,
                )
                for token in self.chain.tokens
            }

    def _row(self, query: str, value: object) -> tuple[object, ...] | None:
        with psycopg.connect(self.url) as connection:
            return connection.execute(query.encode(), (value,)).fetchone()


def until(look: Callable[[], T | None], what: str, *, within_s: float) -> T:
    """Return the value of `look` once there is one. Raises PartFailedError after a time."""
    until_s = time.monotonic() + within_s
    while (found := look()) is None:
        if time.monotonic() > until_s:
            message = f"{what} within {within_s:g} s"
            raise PartFailedError(message)
        time.sleep(_LOOK_EVERY_S)
    return found


@contextmanager
def whole_fleet(seed: int, folder: Path) -> Iterator[WholeFleet]:
    """Start everything, and yield once all processes are ready.

    `folder`: for logs and machines' files. Leaves no process. Raises PartFailedError.
    """
    with ExitStack() as stack:
        has_small_disk = can_make_small_disks()
        chain = stack.enter_context(traded_chain(seed, folder / "overlay"))
        parts = FleetParts(
            postgres=stack.enter_context(
                running_postgres(is_durable=True, connections=_CONNECTIONS)
            ),
            valkey=stack.enter_context(running_valkey()),
            objects=stack.enter_context(running_s3(disk_mb=_DISK_MB if has_small_disk else None)),
            has_small_disk=has_small_disk,
        )
        parts.objects.create_bucket(_BUCKET)
        address = _address_of(parts, folder)
        Store.open(address).close()  # makes the tables
        ledger = stack.enter_context(closing(Ledger.of_store(address)))
        keep_audit(address.url.value)
        names = [(f"{role} {at}", role) for role in ROLES for at in range(1, EACH + 1)]
        members = {
            name: _member(stack, name, role, chain, parts, folder)
            for name, role in (*names, ("compactor", "follow"))
        }
        compactor = members.pop("compactor")
        for member in members.values():
            stack.callback(member.end)
            member.start()
        for member in members.values():
            member.until_ready()
        yield WholeFleet(chain, parts, address, members, compactor, ledger)


def _address_of(parts: FleetParts, folder: Path) -> PostgresAddress:
    keys = ObjectStoreKeys(
        key_id=parts.objects.key_id,
        secret=Secret(parts.objects.secret),
        region=None,
        endpoint=f"http://{parts.objects.endpoint}",
    )
    return PostgresAddress(
        url=Secret(parts.postgres.url()),
        lake=f"s3://{_BUCKET}/assay",
        objects=keys,
        prefix=folder / "onlooker" / "store",
    )


def _member(
    stack: ExitStack, name: str, role: Role, chain: TradedChain, parts: FleetParts, folder: Path
) -> FleetMember:
    ports: dict[Part, int] = {
        "postgres": parts.postgres.port,
        "valkey": parts.valkey.port,
        "objects": parts.objects.port,
        "node": chain.node.port,
    }
    links = stack.enter_context(linked(ports))
    own = folder / name.replace(" ", "-")
    own.mkdir()
    env = {**_surroundings(), **_settings(links, chain, parts), "TMPDIR": str(own)}
    return FleetMember(name, role, links, env, folder)


def _surroundings() -> dict[str, str]:
    """Our environment without settings of the person who runs the drills."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "AWS_"))
    }


def _settings(links: Links, chain: TradedChain, parts: FleetParts) -> dict[str, str]:
    return {
        "ASSAY_RPC_1": f"http://127.0.0.1:{links['node'].port}",
        "ASSAY_CONFIG": str(chain.overlay),
        "ASSAY_STORE": parts.postgres.url(port=links["postgres"].port),
        "ASSAY_LAKE": f"s3://{_BUCKET}/assay",
        "ASSAY_REDIS": f"redis://127.0.0.1:{links['valkey'].port}/0",
        "ASSAY_DRAIN_S": _DRAIN_S,
        "AWS_ACCESS_KEY_ID": parts.objects.key_id,
        "AWS_SECRET_ACCESS_KEY": parts.objects.secret,
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{links['objects'].port}",
    }
