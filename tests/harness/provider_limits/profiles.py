"""Limits of providers as data, and the proxy before a real node that imposes them."""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from tests.harness.node.forward import Ask, ForwardingNode
from tests.harness.replay.answers import RpcCall, RpcRefusalError
from tests.harness.replay.faults import Fault, FaultPlan, Refusal
from tests.harness.replay.http_server import ReplayServer

_OK = 200


class Limit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limit of a quantity, and the provider's message beyond it."""

    most: int
    message: str
    code: int = -32000
    status: int = _OK
    """HTTP status. Other than 200: without a body."""


class MissingMethods(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Methods that are always refused."""

    names: frozenset[str]
    message: str
    code: int


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One provider. None: no such limit."""

    name: str
    range: Limit | None = None
    """Blocks of one `eth_getLogs`."""
    results: Limit | None = None
    """Logs of one answer."""
    batch: Limit | None = None
    """Requests of one message."""
    body: Limit | None = None
    """Bytes of one message."""
    rate: Limit | None = None
    """Requests within a second."""
    methods: MissingMethods | None = None


def load_profiles() -> list[Profile]:
    """Read all profiles from the file next to this one."""
    table = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text())
    return msgspec.convert(table["profile"], list[Profile])


@contextmanager
def limited(
    url: str, profile: Profile, *, now_s: Callable[[], float]
) -> Iterator[Callable[[], tuple[str, int]]]:
    """Serve a real node through a profile; yield its address and the requests so far.

    `now_s`: the clock by which the rate is measured.
    """
    batch_sizes: list[int] = []

    def plan(calls: Sequence[RpcCall]) -> Fault:
        batch_sizes.append(len(calls))
        return _fault_of(profile, calls, limit_rate)

    limit_rate = _rate_limiter(profile.rate, now_s)
    with (
        closing(ForwardingNode(url, lambda call, ask: _answer(profile, call, ask))) as node,
        ReplayServer({"/": node}, faults=plan) as server,
    ):
        yield lambda: (server.url(), sum(batch_sizes))


def _rate_limiter(limit: Limit | None, now_s: Callable[[], float]) -> FaultPlan:
    """Refuse messages that would be more requests than allowed within the second."""
    window: list[float] = []

    def plan(calls: Sequence[RpcCall]) -> Fault:
        if limit is None:
            return Fault()
        now = now_s()
        window[:] = [at for at in window if at > now - 1.0]
        if window and len(window) + len(calls) > limit.most:
            return _refuse_each(limit, calls)
        window.extend([now] * len(calls))
        return Fault()

    return plan


def _fault_of(profile: Profile, calls: Sequence[RpcCall], limit_rate: FaultPlan) -> Fault:
    size = len(msgspec.json.encode(list(calls)))
    for limit, requested in ((profile.body, size), (profile.batch, len(calls))):
        if limit is not None and requested > limit.most:
            return Fault(status=limit.status, whole=Refusal(limit.code, limit.message))
    return limit_rate(calls)


def _refuse_each(limit: Limit, calls: Sequence[RpcCall]) -> Fault:
    refusal = Refusal(limit.code, limit.message)
    return Fault(status=limit.status, refusals=dict.fromkeys(range(len(calls)), refusal))


def _answer(profile: Profile, call: RpcCall, ask: Ask) -> Any:
    missing = profile.methods
    if missing is not None and call.method in missing.names:
        raise RpcRefusalError(missing.code, missing.message)
    if call.method != "eth_getLogs":
        return ask(call)
    head = ask(RpcCall("eth_blockNumber"))
    first, last = (
        int(head if end == "latest" else end, 16)
        for end in (call.params[0].get(key, "latest") for key in ("fromBlock", "toBlock"))
    )
    _raise_beyond(profile.range, last - first + 1, first=first)
    found = ask(call)
    if last > first:  # the logs of one block are given, however many they are
        _raise_beyond(profile.results, len(found), first=first)
    return found


def _raise_beyond(limit: Limit | None, requested: int, *, first: int) -> None:
    if limit is not None and requested > limit.most:
        offer = {"first": hex(first), "last": hex(first + limit.most - 1), "most": limit.most}
        raise RpcRefusalError(limit.code, limit.message.format(**offer))
