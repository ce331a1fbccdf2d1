"""Protects the windows of limits, alone and shared, and the limits of callers without a key."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from prometheus_client import REGISTRY

from api.auth import rate_windows as module
from api.auth import shared_analysis_slots
from api.auth.networks import ForwardedHeader, client_network, forwarded_hops, parse_networks
from api.auth.public_limits import PublicLimits
from api.auth.rate_windows import LocalWindows, SharedWindows, Window
from config.settings import PublicSettings
from core.process.secret import Secret
from tests.harness.api.redis_server import RedisServer
from tests.harness.api.sample_reports import TOKEN
from tests.harness.api.world import World

BURST = Window(kind="burst", limit=3, span_s=10)

MINUTE = Window(kind="minute", limit=7, span_s=60)

BOTH = (BURST, MINUTE)

KEYS = ("a", "b")

FAILURES = "assay_api_window_failures_total"

# Where a float and its sum with a span are exact, so that "at the very end" means it.
PAUSES = st.sampled_from([0.0, 0.25, 1.0, 3.0, 9.75, 10.0, 10.25, 49.75, 60.0, 60.25])


class LocalMachine(RuleBasedStateMachine):
    """Any calls at any times, held to the plain rule and to the library's own limiter."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 1_000.0
        self.ours = LocalWindows(lambda: self.now_s)
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(time, "time", lambda: self.now_s)
        storage = MemoryStorage()
        storage.timer.cancel()
        # Its thread forgets what is at the very end of a span, at whatever moment it gets to run.
        self.patch.setattr(storage, "timer", Mock(is_alive=lambda: True))
        self.theirs = MovingWindowRateLimiter(storage)
        self.let_through: dict[str, list[float]] = {key: [] for key in KEYS}

    def teardown(self) -> None:
        self.patch.undo()

    @rule(pause_s=PAUSES)
    def wait(self, pause_s: float) -> None:
        """Time goes on."""
        self.now_s += pause_s

    @rule(key=st.sampled_from(KEYS))
    def call(self, key: str) -> None:
        """One call, placed if there is room."""
        full = self.ours.full_now(BOTH, key)
        by_rule = [
            window
            for window in BOTH
            if sum(at >= self.now_s - window.span_s for at in self.let_through[key]) >= window.limit
        ]
        assert (full.window if full else None) == (by_rule[0] if by_rule else None)
        # The library's own look ahead differs from its refusal at the very end of a span.
        for window in BOTH if full is None else by_rule:
            assert self.theirs.hit(window.item, key) is (full is None)
        if full is None:
            self.ours.take_now(BOTH, key)
            self.let_through[key].append(self.now_s)

    @rule(key=st.sampled_from(KEYS))
    def wait_as_told(self, key: str) -> None:
        """A caller that waits as long as stated is admitted, and a second less is not enough."""
        full = self.ours.full_now(BOTH, key)
        if full is None:
            return
        assert full.retry_after_s >= 1
        self.now_s += full.retry_after_s - 1
        still = self.ours.full_now(BOTH, key)
        assert still is not None
        assert still.window == full.window
        self.now_s += 1
        other = self.ours.full_now(BOTH, key)
        assert other is None or other.window != full.window

    @invariant()
    def no_span_holds_more_than_its_limit(self) -> None:
        """No span of time exceeds the limit."""
        for calls in self.let_through.values():
            for window in BOTH:
                for start_s in calls:
                    assert (
                        sum(start_s <= at <= start_s + window.span_s for at in calls)
                        <= window.limit
                    )


TestLocalWindows = LocalMachine.TestCase

TestLocalWindows.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


@pytest.mark.process
def test_keys_that_no_longer_call_are_forgotten() -> None:
    now_s = [0.0]
    windows = LocalWindows(lambda: now_s[0])
    for key in range(5_000):
        windows.take_now(BOTH, str(key))
    now_s[0] = 61.0
    windows.take_now(BOTH, "last")
    assert list(windows._windows) == ["last"]


# --- shared --------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    made = RedisServer(tmp_path_factory.mktemp("redis"))
    made.start()
    yield made
    made.stop()


@pytest.fixture
async def pair(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[SharedWindows, SharedWindows]]:
    """Two processes' windows on one server, patient even where the machine is busy."""
    monkeypatch.setattr(module, "REDIS_PATIENCE_S", 20.0)
    made = [SharedWindows(Secret(server.url), LocalWindows()) for _ in range(2)]
    yield made[0], made[1]
    for windows in made:
        await windows.aclose()


async def call(windows: SharedWindows | LocalWindows, key: str) -> str | None:
    """The kind of the window that refuses a call, which is placed if none does."""
    full = await windows.full(BOTH, key) or await windows.take(BOTH, key)
    return full.window.kind if full else None


@pytest.mark.process
async def test_two_processes_share_a_window(pair: tuple[SharedWindows, SharedWindows]) -> None:
    first, second = pair
    refused = [await call(windows, "shared") for windows in (first, second) * 3]
    assert refused == [None, None, None, "burst", "burst", "burst"]
    full = await second.full(BOTH, "shared")
    assert full is not None
    assert full.retry_after_s in (10, 11)
    assert await call(first, "of another key") is None


@pytest.mark.process
async def test_two_processes_share_the_analyses_of_people_without_a_key(
    pair: tuple[SharedWindows, SharedWindows],
) -> None:
    limits = [PublicLimits(windows, PublicSettings(analyses_per_hour=2)) for windows in pair]
    waits = []
    for at in range(4):
        with ExitStack() as turn:
            waits.append(
                await limits[at % 2].take_analysis("203.0.113.7", "ethereum", "0x1", until=turn)
            )
    assert waits[:2] == [None, None]
    for spent in waits[2:]:
        assert spent is not None and spent.because == "network"
        assert spent.retry_after_s is not None and 3_590 <= spent.retry_after_s <= 3_601


@pytest.mark.process
async def test_a_network_has_one_analysis_over_all_processes(
    pair: tuple[SharedWindows, SharedWindows], monkeypatch: pytest.MonkeyPatch
) -> None:
    running: set[str] = set()

    async def is_running(_: str, token: str) -> bool:
        await asyncio.sleep(0)
        return token in running

    settings = PublicSettings(analyses_per_hour=100, analyses_per_hour_and_chain=10_000)
    limits = [PublicLimits(windows, settings, is_running) for windows in pair]
    network = "203.0.113.17"

    async def visit(at: int, token: str, *, of: str = network, is_token: bool = True) -> bool:
        with ExitStack() as turn:
            spent = await limits[at].take_analysis(
                of, "ethereum", token, until=turn, is_token=is_token
            )
            if spent is not None:
                assert spent.because == "running"
                return False
            if is_token:
                running.add(token)
            await asyncio.sleep(0.05)
        return True

    for burst in range(2):
        visits = [visit(at % 2, f"0x{burst}{at}") for at in range(20)]
        *flood, other = await asyncio.gather(*visits, visit(1, "0xother", of="203.0.113.18"))
        assert (sum(flood), other) == (1, True)
        # Its visitor has left, and it goes on.
        assert [await visit(at, "0xlate") for at in range(2)] == [False, False]
        running.clear()
    # A page of one token that two processes serve is one subject; a simulation ends with its page.
    assert all(await asyncio.gather(visit(0, "0xsame"), visit(1, "0xsame")))
    running.clear()
    for at in (0, 1, 0):
        assert await visit(at, f"exit 0x{at}", is_token=False)
        await asyncio.sleep(0.1)  # places are given back in the background

    monkeypatch.setattr(shared_analysis_slots, "_HELD_S", 1)
    with ExitStack() as never_left:
        lost = limits[0].take_analysis(network, "ethereum", "0xlost", until=never_left)
        assert await lost is None
        assert not await visit(1, "0xnext")
        await asyncio.sleep(2.1)  # the process was killed
        assert await visit(1, "0xnext")


async def test_without_the_server_each_process_has_turns_of_its_own() -> None:
    windows = SharedWindows(Secret("redis://127.0.0.1:1"), LocalWindows())
    limits = PublicLimits(windows, PublicSettings())
    with ExitStack() as turn:
        assert await limits.take_analysis("203.0.113.7", "ethereum", "0x1", until=turn) is None
        second = await limits.take_analysis("203.0.113.7", "ethereum", "0x2", until=turn)
        assert second is not None
    await windows.aclose()


@pytest.mark.process
async def test_a_key_that_calls_for_ever_takes_no_more_memory(
    pair: tuple[SharedWindows, SharedWindows],
) -> None:
    for _ in range(50):
        await pair[0].take(BOTH, "for ever")
    held_windows = pair[0]._local._windows["for ever"]
    assert [len(times) for _, times in held_windows] == [BURST.limit, MINUTE.limit]


@pytest.mark.process
async def test_many_at_once_in_two_processes_get_no_more_than_the_limit(
    pair: tuple[SharedWindows, SharedWindows],
) -> None:
    refused = await asyncio.gather(*(call(pair[at % 2], "crowd") for at in range(200)))
    assert refused.count(None) == 3


@pytest.mark.process
async def test_shared_windows_follow_the_rule_of_those_in_memory(
    pair: tuple[SharedWindows, SharedWindows], monkeypatch: pytest.MonkeyPatch
) -> None:
    start_s, past_s = time.time(), 0.0
    monkeypatch.setattr(time, "time", lambda: start_s + past_s)
    local = LocalWindows(lambda: past_s)
    for pause_s in (0, 1, 1, 1, 8, 0.5, 2, 9, 0.25, 10.25, 0, 0, 0, 30, 0, 11, 0, 0, 0, 0):
        past_s += pause_s
        assert await call(pair[0], "rule") == await call(local, "rule"), past_s


@pytest.mark.process
async def test_without_the_server_each_process_goes_on_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REDIS_PAUSE_S", 0.3)
    monkeypatch.setattr(module, "REDIS_PATIENCE_S", 2.0)
    server = RedisServer(tmp_path)
    server.start()
    first, second = (SharedWindows(Secret(server.url), LocalWindows()) for _ in range(2))
    assert [await call(first, "k") for _ in range(2)] == [None] * 2
    failures = REGISTRY.get_sample_value(FAILURES) or 0.0
    server.stop()  # a caller gets this answer without waiting
    started = time.monotonic()
    # What this process let through before is not forgotten; the other knows of none.
    assert [await call(first, "k") for _ in range(3)] == [None, "burst", "burst"]
    assert [await call(second, "k") for _ in range(4)] == [None, None, None, "burst"]
    assert time.monotonic() - started < 5
    assert (REGISTRY.get_sample_value(FAILURES) or 0.0) >= failures + 2
    server.start()
    await asyncio.sleep(0.35)
    assert await call(second, "new") is None
    assert await call(first, "new") is None
    assert await call(second, "new") is None
    assert await call(first, "new") == "burst"  # shared again
    server.stop()
    for windows in (first, second):
        await windows.aclose()


@pytest.mark.process
@pytest.mark.parametrize(("plan", "let_through"), [("trial", 5), ("developer", 20)])
async def test_two_nodes_of_the_service_share_the_limits_of_a_key(
    world: World,
    server: RedisServer,
    plan: str,
    let_through: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "REDIS_PATIENCE_S", 20.0)
    url = Secret(server.url)
    nodes = [world.client(redis_url=url) for _ in range(2)]
    key = world.new_key(plan)
    answers = await asyncio.gather(
        *(nodes[at % 2].get(f"/token/1/{TOKEN}", headers={"X-API-Key": key}) for at in range(60))
    )
    statuses = [answer.status_code for answer in answers]
    assert (statuses.count(200), set(statuses)) == (let_through, {200, 429})


@pytest.mark.process
async def test_a_server_that_was_never_there_costs_one_wait(world: World) -> None:
    client = world.client(redis_url=Secret("redis://127.0.0.1:1/0"))
    key = world.new_key("developer")
    statuses = [
        (await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": key})).status_code
        for _ in range(22)
    ]
    assert statuses == [200] * 20 + [429] * 2


# --- public limits ------------------------------------------------------------------------------

CALLS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.5, 20.0, 59.5, 60.5, 900.0, 3599.5, 3600.5]),
        st.sampled_from(["203.0.113.7", "203.0.113.8", "2001:db8::/64"]),
        st.sampled_from(["ethereum", "base"]),
    ),
    max_size=60,
)


@given(calls=CALLS, of_network=st.integers(0, 5), of_chain=st.integers(0, 45))
def test_analyses_follow_the_rule(
    calls: list[tuple[float, str, str]], of_network: int, of_chain: int
) -> None:
    now_s = 0.0
    settings = PublicSettings(analyses_per_hour=of_network, analyses_per_hour_and_chain=of_chain)
    limits = PublicLimits(LocalWindows(lambda: now_s), settings)
    taken: list[tuple[float, str, str]] = []
    for pause_s, network, chain in calls:
        now_s += pause_s
        hour = [call for call in taken if call[0] >= now_s - 3600]
        minute = [call for call in hour if call[0] >= now_s - 60]
        is_free = (
            sum(call[1] == network for call in hour) < of_network
            and sum(call[2] == chain for call in hour) < of_chain
            and sum(call[2] == chain for call in minute) < math.ceil(of_chain / 20)
        )
        with ExitStack() as turn:
            spent = asyncio.run(limits.take_analysis(network, chain, "0x1", until=turn))
        assert (spent is None) == is_free
        if spent is None:
            taken.append((now_s, network, chain))
        elif 0 in (of_network, of_chain):
            assert (spent.because, spent.retry_after_s) == ("closed", None)
        else:
            assert 1 <= (spent.retry_after_s or 0) <= 3601


@pytest.mark.parametrize("is_left", [False, True])
async def test_a_flood_of_one_network_has_one_analysis_and_delays_no_other(is_left: bool) -> None:
    """Bursts of visits, each after the last analysis has ended. `is_left`: visitors leave before
    the analysis ends."""
    running: set[str] = set()

    async def is_running(_: str, token: str) -> bool:
        await asyncio.sleep(0)  # as a look into a database
        return token in running

    settings = PublicSettings(analyses_per_hour=100, analyses_per_hour_and_chain=10_000)
    limits = PublicLimits(LocalWindows(), settings, is_running)

    async def visit(network: str, token: str) -> bool:
        with ExitStack() as turn:
            spent = await limits.take_analysis(network, "ethereum", token, until=turn)
            if spent is not None:
                assert spent.because == "running"
                return False
            await asyncio.sleep(0)  # it starts a moment later
            running.add(token)
            if not is_left:
                await asyncio.sleep(0.01)
        return True

    for burst in range(3):
        visits = [visit("203.0.113.7", f"0x{burst}{at}") for at in range(30)]
        *flood, other = await asyncio.gather(*visits, visit("203.0.113.8", f"0x{burst}other"))
        assert sum(flood) == 1
        assert other
        assert not await visit("203.0.113.7", "0xlate")
        running.clear()


TRUSTED = parse_networks(["10.0.0.0/8", "192.0.2.1", "2001:db8:ffff::/48"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "network"),
    [
        ("203.0.113.7", [], "203.0.113.7"),
        ("::ffff:203.0.113.7", [], "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", [], "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", [], "2001:db8:1:2::/64"),
        # A header of an outside address has no effect.
        ("203.0.113.7", ["198.51.100.1"], "203.0.113.7"),
        ("10.1.2.3", ["198.51.100.1"], "198.51.100.1"),
        ("::ffff:10.1.2.3", [" 198.51.100.1 "], "198.51.100.1"),
        # The client wrote the first entry, the trusted proxy the last.
        ("10.1.2.3", ["1.1.1.1", "198.51.100.1"], "198.51.100.1"),
        ("10.1.2.3", ["198.51.100.1", "192.0.2.1"], "198.51.100.1"),
        ("10.1.2.3", ["198.51.100.1", "nonsense"], "10.1.2.3"),
        ("10.1.2.3", [], "10.1.2.3"),
        ("10.1.2.3", ["198.51.100.1:4711"], "198.51.100.1"),
        ("10.1.2.3", ["[2001:db8:1:2::9]:4711"], "2001:db8:1:2::/64"),
        ("10.1.2.3", ["[2001:db8:1:2::9]"], "2001:db8:1:2::/64"),
        ("10.1.2.3", ["198.51.100.1", "unknown"], "10.1.2.3"),
        ("2001:db8:ffff::1", ["2001:db8:1:2::9"], "2001:db8:1:2::/64"),
        (None, ["198.51.100.1"], "local"),
        ("", [], "local"),
    ],
)
def test_the_network_of_a_client(peer: str | None, forwarded: list[str], network: str) -> None:
    assert client_network(peer, forwarded, trusted=TRUSTED) == network


@pytest.mark.parametrize(
    ("header", "lines", "hops"),
    [
        ("x-forwarded-for", [], []),
        ("x-forwarded-for", ["1.1.1.1, 2.2.2.2", "3.3.3.3"], ["1.1.1.1", "2.2.2.2", "3.3.3.3"]),
        ("forwarded", [], []),
        ("forwarded", ["for=1.1.1.1"], ["1.1.1.1"]),
        ("forwarded", ["For=1.1.1.1;proto=http;by=10.0.0.1, for=2.2.2.2"], ["1.1.1.1", "2.2.2.2"]),
        (
            "forwarded",
            ['for="[2001:db8::1]:4711"', "for=2.2.2.2"],
            ["[2001:db8::1]:4711", "2.2.2.2"],
        ),
        ("forwarded", ['for="_hid,den";by=1.1.1.1, proto=https'], ["_hid,den", "unknown"]),
        ("forwarded", ['by="for=9.9.9.9";for=1.1.1.1'], ["1.1.1.1"]),
        ("forwarded", ["for=unknown, for="], ["unknown", ""]),
    ],
)
def test_the_hops_of_a_header(header: ForwardedHeader, lines: list[str], hops: list[str]) -> None:
    assert [hop.strip() for hop in forwarded_hops(lines, header)] == hops
