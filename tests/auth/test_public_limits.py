"""Protects the node from people without a key: no hour has more analyses than the plain rule."""

import asyncio
import math

from hypothesis import given
from hypothesis import strategies as st

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
