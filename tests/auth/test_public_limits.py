"""Protects the node from people without a key: analyses an hour, and networks of callers."""

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.auth.networks import ForwardedHeader, client_network, forwarded_hops, parse_networks
from api.auth.public_limits import PublicLimits
from api.auth.rate_windows import LocalWindows
from config.settings import PublicSettings

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
        wait_s = asyncio.run(limits.take_analysis(network, chain))
        assert (wait_s is None) == is_free
        if wait_s is None:
            taken.append((now_s, network, chain))
        else:
            assert 1 <= wait_s <= 3601


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
