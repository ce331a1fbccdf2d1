"""Silent faults of nodes and gateways, and the check of `assay doctor` that names each."""

import itertools
import threading
from collections.abc import Callable, Sequence

import msgspec

from tests.harness.node import twists
from tests.harness.node.forward import Twist, tell_the_truth
from tests.harness.replay.answers import RpcCall
from tests.harness.replay.faults import Fault, FaultPlan, limit_ranges, no_faults

HANG_S = 0.6
"""Delay beyond the patience of a test's client."""
_AT_ONCE = 6


class Lie(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of wrong answer, and the check that notices it."""

    name: str
    check: str
    """Name of the check."""
    says: str
    """Part of the check's message."""
    status: str = "failed"
    twist: Twist = tell_the_truth
    hangs: bool = False
    """True if it shows only to a client that waits less than HANG_S."""
    faults: Callable[[], FaultPlan] = lambda: no_faults
    """Makes new faults of messages for each server."""


def _refuses_batches() -> FaultPlan:
    return lambda calls: Fault(status=400 if len(calls) > 1 else 200)


def _hangs_on(method: str) -> Callable[[], FaultPlan]:
    def plan(calls: Sequence[RpcCall]) -> Fault:
        return Fault(delay_s=HANG_S if any(call.method == method for call in calls) else 0.0)

    return lambda: plan


def _limits_at_once() -> FaultPlan:
    """Refuse messages beyond a number within a moment, without a time to wait."""
    lock, counter = threading.Lock(), itertools.count()

    def plan(calls: Sequence[RpcCall]) -> Fault:
        if calls[0].method != "eth_blockNumber":
            return Fault()
        with lock:
            return Fault(status=429 if next(counter) >= _AT_ONCE else 200)

    return plan


LIES: tuple[Lie, ...] = (
    Lie(name="other chain", check="chain id", says="chain id 1234567", twist=twists.other_chain),
    Lie(name="drops logs", check="logs of a block", says="bloom filter", twist=twists.drops_logs),
    Lie(
        name="drops logs and receipts' logs",
        check="logs of a block",
        says="bloom filter",
        twist=twists.drops_logs_everywhere,
    ),
    Lie(
        name="ignores overrides",
        check="state overrides",
        says="code: ignored",
        twist=twists.ignores_overrides,
    ),
    Lie(
        name="ignores base fee",
        check="simulated base fee",
        says="ignored",
        twist=twists.without_fields("baseFeePerGas"),
    ),
    Lie(
        name="ignores time",
        check="simulated blocks",
        says="ignored: time",
        twist=twists.without_fields("time"),
    ),
    Lie(
        # nothing but the base fee depends on validation in anvil
        name="never validates",
        check="simulated base fee",
        says="ignored",
        twist=twists.never_validates,
    ),
    Lie(
        name="forgets between blocks",
        check="simulation",
        says="not carried",
        twist=twists.forgets_between_blocks,
    ),
    Lie(
        name="limits gas",
        check="packed reads",
        says="above the cap",
        status="degraded",
        twist=twists.limits_gas,
    ),
    Lie(name="any hash", check="blocks by hash", says="a hash of no block", twist=twists.any_hash),
    Lie(
        name="other factory",
        check="factories named",
        says="names the factory",
        twist=twists.other_factory,
    ),
    Lie(name="no deposits", check="wrapped coin", says="gave 0", twist=twists.no_deposits),
    Lie(
        name="neither simulation nor traces",
        check="call traces",
        says="does not exist",
        status="degraded",
        twist=twists.no_simulation_at_all,
    ),
    Lie(name="stale head", check="head age", says="stale", twist=twists.stale_head),
    Lie(name="clock ahead", check="head age", says="in the future", twist=twists.clock_ahead),
    Lie(
        name="old states are the newest",
        check="old states",
        says="run on another block",
        twist=twists.old_as_latest,
    ),
    Lie(
        name="old accounts are the newest",
        check="old states",
        says="same as after it",
        twist=twists.old_accounts_as_latest,
    ),
    Lie(
        name="ignores block hashes",
        check="state by block hash",
        says="hash is ignored",
        twist=twists.ignores_hashes,
    ),
    Lie(name="cuts ranges", check="log gaps", says="without an error", twist=twists.cuts_ranges),
    Lie(
        name="limits ranges",
        check="log ranges",
        says="5 blocks in one query",
        status="degraded",
        faults=lambda: limit_ranges(5, "quicknode"),
    ),
    Lie(
        name="wants addresses",
        check="logs of all contracts",
        says="specify an address",
        status="degraded",
        twist=twists.wants_addresses,
    ),
    Lie(
        name="receipts of another block",
        check="receipts",
        says="are not those",
        twist=twists.receipts_of_the_parent,
    ),
    Lie(
        name="other decimals", check="stable coins", says="9 decimals", twist=twists.other_decimals
    ),
    Lie(
        name="no code at factories",
        check="contracts",
        says="no code at factory",
        twist=twists.no_code_at_factories,
    ),
    Lie(
        name="other pools",
        check="known pools",
        says="other tokens, or no pool",
        twist=twists.other_pools,
    ),
    Lie(name="stale oracle", check="oracle", says="heartbeat", twist=twists.stale_oracle),
    Lie(
        name="no simulation",
        check="methods",
        says="does not exist",
        status="degraded",
        twist=twists.no_simulation,
    ),
    Lie(
        name="refuses batches",
        check="batches",
        says="1 requests in one message",
        status="degraded",
        faults=_refuses_batches,
    ),
    Lie(
        name="hangs on logs",
        check="logs of a block",
        says="no answer within",
        hangs=True,
        faults=_hangs_on("eth_getLogs"),
    ),
    Lie(
        name="refuses bursts",
        check="rate limit",
        says="without Retry-After",
        status="degraded",
        faults=_limits_at_once,
    ),
)
