"""What nodes and gateways do wrong without saying so, one lie a function, and the check of
`assay doctor` that is to name it."""

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from core.abi import selector_of
from harness.lying_node.forwarding import Ask, Twist, tell_the_truth
from harness.replay.answers import RpcCall, RpcRefusalError
from harness.replay.faults import Fault, FaultPlan, limit_ranges, no_faults

HOUR_S = 3_600
STALE_BLOCKS = 12
"""How far behind the real head a stale one is."""
CUT_BLOCKS = 10
"""Blocks after which ranges of logs are cut."""
HANG_S = 0.6
"""Longer than the patience of who asks in a test."""
_AT_ONCE = 6
_MOST_GAS = 10_000_000
_HEADERS = frozenset({"eth_getBlockByNumber", "eth_getBlockByHash"})


class Lie(msgspec.Struct, frozen=True, kw_only=True):
    """One way of answering wrong, and who is to notice."""

    name: str
    check: str
    """Name of the check."""
    says: str
    """Part of what the check has to say it saw."""
    status: str = "failed"
    twist: Twist = tell_the_truth
    hangs: bool = False
    """True if it shows only to who waits less than HANG_S."""
    faults: Callable[[], FaultPlan] = lambda: no_faults
    """Makes the faults of messages anew for each server."""


def _with(call: RpcCall, *params: Any) -> RpcCall:
    return RpcCall(method=call.method, params=list(params), id=call.id)


def _is_call_of(call: RpcCall, signature: str) -> bool:
    return call.method == "eth_call" and str(call.params[0].get("data", "")).startswith(
        selector_of(signature)
    )


def _word(number: int) -> str:
    return "0x" + number.to_bytes(32).hex()


def _other_chain(call: RpcCall, ask: Ask) -> Any:
    return hex(1_234_567) if call.method == "eth_chainId" else ask(call)


def _drops_logs(call: RpcCall, ask: Ask) -> Any:
    found = ask(call)
    return found[1:] if call.method == "eth_getLogs" else found


def _drops_logs_everywhere(call: RpcCall, ask: Ask) -> Any:
    """Also from receipts, so that only the bloom filter tells."""
    if call.method != "eth_getBlockReceipts":
        return _drops_logs(call, ask)
    receipts = ask(call) or []
    for receipt in receipts:
        receipt["logs"] = receipt["logs"][1:]
    return receipts


def _ignores_overrides(call: RpcCall, ask: Ask) -> Any:
    return ask(_with(call, *call.params[:2]) if call.method == "eth_call" else call)


def _without_fields(*fields: str) -> Twist:
    def twist(call: RpcCall, ask: Ask) -> Any:
        if call.method == "eth_simulateV1":
            for block in call.params[0]["blockStateCalls"]:
                for field in fields:
                    block.get("blockOverrides", {}).pop(field, None)
        return ask(call)

    return twist


def _never_validates(call: RpcCall, ask: Ask) -> Any:
    if call.method == "eth_simulateV1":
        call.params[0]["validation"] = False
    return ask(call)


def _forgets_between_blocks(call: RpcCall, ask: Ask) -> Any:
    """Each simulated block is run on the same state."""
    if call.method != "eth_simulateV1" or len(call.params[0]["blockStateCalls"]) == 1:
        return ask(call)
    first, *later = call.params[0]["blockStateCalls"]
    results = []
    for block in (first, *later):
        alone = {**block, "stateOverrides": first.get("stateOverrides", {})}
        results += ask(_with(call, {**call.params[0], "blockStateCalls": [alone]}, call.params[1]))
    return results


def _limits_gas(call: RpcCall, ask: Ask) -> Any:
    gas = int(call.params[0].get("gas", "0x0"), 16) if call.method == "eth_call" else 0
    if gas > _MOST_GAS:
        raise RpcRefusalError(-32000, f"gas limit {gas} is above the cap {_MOST_GAS}")
    return ask(call)


def _any_hash(call: RpcCall, ask: Ask) -> Any:
    """A hash of no block is answered with the newest."""
    found = ask(call)
    if call.method == "eth_getBlockByHash" and found is None:
        return ask(RpcCall("eth_getBlockByNumber", ["latest", False]))
    return found


def _other_factory(call: RpcCall, ask: Ask) -> Any:
    return _word(0xFAC) if _is_call_of(call, "factory()") else ask(call)


def _no_deposits(call: RpcCall, ask: Ask) -> Any:
    """The coin's contract takes money, and gives no tokens for it."""
    if call.method == "eth_simulateV1":
        for block in call.params[0]["blockStateCalls"]:
            for one in block["calls"]:
                one.pop("value", None)
    return ask(call)


def _stale_head(call: RpcCall, ask: Ask) -> Any:
    if call.method == "eth_getBlockByNumber" and call.params[0] == "latest":
        head = int(ask(RpcCall("eth_blockNumber")), 16)
        return ask(_with(call, hex(head - STALE_BLOCKS), call.params[1]))
    return ask(call)


def _old_as_latest(call: RpcCall, ask: Ask) -> Any:
    """State at any height is that of the newest block."""
    if call.method in ("eth_call", "eth_getCode", "eth_getBalance", "eth_getTransactionCount"):
        block, *overrides = call.params[1:]
        return ask(
            _with(call, call.params[0], "latest" if isinstance(block, str) else block, *overrides)
        )
    return ask(call)


def _old_accounts_as_latest(call: RpcCall, ask: Ask) -> Any:
    """The block of a call is right, and its state is that of the newest."""
    if call.method == "eth_getTransactionCount":
        return ask(_with(call, call.params[0], "latest"))
    return ask(call)


def _ignores_hashes(call: RpcCall, ask: Ask) -> Any:
    """Blocks given by hash are taken for the newest."""
    params = [
        "latest" if isinstance(one, dict) and "blockHash" in one else one for one in call.params
    ]
    is_state = call.method in ("eth_call", "eth_getCode", "eth_getStorageAt")
    return ask(_with(call, *params) if is_state else call)


def _cuts_ranges(call: RpcCall, ask: Ask) -> Any:
    if call.method == "eth_getLogs" and "fromBlock" in call.params[0]:
        where = dict(call.params[0])
        first, last = int(where["fromBlock"], 16), int(where["toBlock"], 16)
        where["toBlock"] = hex(min(last, first + CUT_BLOCKS - 1))
        return ask(_with(call, where))
    return ask(call)


def _other_decimals(call: RpcCall, ask: Ask) -> Any:
    found = ask(call)
    return _word(9) if _is_call_of(call, "decimals()") and found == _word(6) else found


def _no_code_at_factories(call: RpcCall, ask: Ask) -> Any:
    """Of contracts that are no tokens and no feeds: by the length of their code."""
    found = ask(call)
    return "0x" if call.method == "eth_getCode" and len(found) > 20_000 else found


def _other_pools(call: RpcCall, ask: Ask) -> Any:
    """A factory names a pool that is none of its own."""
    if _is_call_of(call, "getPair(address,address)"):
        return "0x" + "00" * 12 + str(call.params[0]["data"])[-40:]
    return ask(call)


def _stale_oracle(call: RpcCall, ask: Ask) -> Any:
    found = ask(call)
    if not _is_call_of(call, "latestRoundData()"):
        return found
    words = [found[2 + at : 66 + at] for at in range(0, len(found) - 2, 64)]
    words[3] = (int(words[3], 16) - 24 * HOUR_S).to_bytes(32).hex()
    return "0x" + "".join(words)


def _clock_ahead(call: RpcCall, ask: Ask) -> Any:
    found = ask(call)
    if call.method in _HEADERS and found:
        found["timestamp"] = hex(int(found["timestamp"], 16) + HOUR_S)
    return found


def _no_simulation_at_all(call: RpcCall, ask: Ask) -> Any:
    if call.method == "debug_traceCall":
        raise RpcRefusalError(-32601, "the method debug_traceCall does not exist")
    return _no_simulation(call, ask)


def _no_simulation(call: RpcCall, ask: Ask) -> Any:
    if call.method == "eth_simulateV1":
        raise RpcRefusalError(-32601, "the method eth_simulateV1 does not exist/is not available")
    return ask(call)


def _wants_addresses(call: RpcCall, ask: Ask) -> Any:
    if call.method == "eth_getLogs" and "address" not in call.params[0]:
        raise RpcRefusalError(-32602, "please specify an address in your request")
    return ask(call)


def _receipts_of_the_parent(call: RpcCall, ask: Ask) -> Any:
    """As of a cache that is a block behind."""
    if call.method != "eth_getBlockReceipts":
        return ask(call)
    block = ask(RpcCall("eth_getBlockByNumber", ["0x1", False]))
    return ask(_with(call, block["hash"]))


def _refuses_batches() -> FaultPlan:
    return lambda calls: Fault(status=400 if len(calls) > 1 else 200)


def _hangs_on(method: str) -> Callable[[], FaultPlan]:
    def plan(calls: Sequence[RpcCall]) -> Fault:
        return Fault(delay_s=HANG_S if any(call.method == method for call in calls) else 0.0)

    return lambda: plan


def _limits_at_once() -> FaultPlan:
    """More than so many messages within a moment are refused, and no time to wait is told."""
    lock, counter = threading.Lock(), itertools.count()

    def plan(calls: Sequence[RpcCall]) -> Fault:
        if calls[0].method != "eth_blockNumber":
            return Fault()
        with lock:
            return Fault(status=429 if next(counter) >= _AT_ONCE else 200)

    return plan


LIES: tuple[Lie, ...] = (
    Lie(name="other chain", check="chain id", says="chain id 1234567", twist=_other_chain),
    Lie(name="drops logs", check="logs of a block", says="bloom filter", twist=_drops_logs),
    Lie(
        name="drops logs and receipts' logs",
        check="logs of a block",
        says="bloom filter",
        twist=_drops_logs_everywhere,
    ),
    Lie(
        name="ignores overrides",
        check="state overrides",
        says="code: ignored",
        twist=_ignores_overrides,
    ),
    Lie(
        name="ignores base fee",
        check="simulated base fee",
        says="ignored",
        twist=_without_fields("baseFeePerGas"),
    ),
    Lie(
        name="ignores time",
        check="simulated blocks",
        says="ignored: time",
        twist=_without_fields("time"),
    ),
    Lie(
        # nothing but the base fee depends on validation in anvil
        name="never validates",
        check="simulated base fee",
        says="ignored",
        twist=_never_validates,
    ),
    Lie(
        name="forgets between blocks",
        check="simulation",
        says="not carried",
        twist=_forgets_between_blocks,
    ),
    Lie(
        name="limits gas",
        check="packed reads",
        says="above the cap",
        status="degraded",
        twist=_limits_gas,
    ),
    Lie(name="any hash", check="blocks by hash", says="a hash of no block", twist=_any_hash),
    Lie(
        name="other factory",
        check="factories named",
        says="names the factory",
        twist=_other_factory,
    ),
    Lie(name="no deposits", check="wrapped coin", says="gave 0", twist=_no_deposits),
    Lie(
        name="neither simulation nor traces",
        check="call traces",
        says="does not exist",
        status="degraded",
        twist=_no_simulation_at_all,
    ),
    Lie(name="stale head", check="head age", says="stale", twist=_stale_head),
    Lie(name="clock ahead", check="head age", says="in the future", twist=_clock_ahead),
    Lie(
        name="old states are the newest",
        check="old states",
        says="run on another block",
        twist=_old_as_latest,
    ),
    Lie(
        name="old accounts are the newest",
        check="old states",
        says="same as after it",
        twist=_old_accounts_as_latest,
    ),
    Lie(
        name="ignores block hashes",
        check="state by block hash",
        says="hash is ignored",
        twist=_ignores_hashes,
    ),
    Lie(name="cuts ranges", check="log gaps", says="without an error", twist=_cuts_ranges),
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
        twist=_wants_addresses,
    ),
    Lie(
        name="receipts of another block",
        check="receipts",
        says="are not those",
        twist=_receipts_of_the_parent,
    ),
    Lie(name="other decimals", check="stable coins", says="9 decimals", twist=_other_decimals),
    Lie(
        name="no code at factories",
        check="contracts",
        says="no code at factory",
        twist=_no_code_at_factories,
    ),
    Lie(
        name="other pools", check="known pools", says="other tokens, or no pool", twist=_other_pools
    ),
    Lie(name="stale oracle", check="oracle", says="heartbeat", twist=_stale_oracle),
    Lie(
        name="no simulation",
        check="methods",
        says="does not exist",
        status="degraded",
        twist=_no_simulation,
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
