"""Protects the cache of tokens: fresh, within its bound, one moment for all formats."""

import gc
import pickle
import tracemalloc

import msgspec
import pytest

from api.formats.token_snapshot import TokenSnapshot, take_snapshot
from api.serving.cached_answer import CachedAnswer
from api.serving.token_cache import CachedToken, TokenCache, Variant
from core.errors import TokenRefusedError
from core.evm.primitives import Address
from core.report.report import EvidenceRow, Report
from tests.harness.api.sample_reports import (
    LIQUID_USD,
    MINED_AT_S,
    make_holder,
    make_pool,
    make_report,
)
from tests.harness.api.world import make_chain
from tests.harness.clock import HandClock

CHAIN = make_chain(1, "ethereum")
REFUSED = TokenRefusedError(code="not_a_contract", reason="no code")
NATIVE: Variant = ("native", False, None)
SUMMARY: Variant = ("summary", False, None)


def answer(kilobytes: int) -> CachedAnswer:
    """One that takes so much memory, of which a thousand bytes are not its body."""
    made = CachedAnswer(status=200, body=b"x" * (1_000 * kilobytes - 1_000))
    assert made.held_bytes == 1_000 * kilobytes
    return made


def small(*, started_as: int = 0, until_s: float = 1e12) -> CachedToken:
    """A token that takes 600 bytes without its answers."""
    return CachedToken(REFUSED, started_as=started_as, until_s=until_s)


def snapshot(report: Report) -> TokenSnapshot:
    return take_snapshot(report, CHAIN, now_s=MINED_AT_S, liquid_above_usd=LIQUID_USD)


def test_a_token_is_served_until_its_time_is_up() -> None:
    watch = HandClock()
    cache = TokenCache(max_bytes=100_000, now_s=watch)
    token = small(until_s=watch.now_s + 120)
    cache.put(("a", "0x1"), token)
    cache.add(("a", "0x1"), token, NATIVE, answer(10))
    watch.now_s += 119.9
    assert cache.get(("a", "0x1")) is token
    watch.now_s += 0.1
    assert cache.get(("a", "0x1")) is None
    assert cache.held_bytes == 0


def test_the_least_recently_used_go_first_with_all_their_answers() -> None:
    cache = TokenCache(max_bytes=100_000, now_s=HandClock())
    for name in "abc":
        token = small()
        cache.put((name, "0x1"), token)
        cache.add((name, "0x1"), token, NATIVE, answer(20))
        cache.add((name, "0x1"), token, SUMMARY, answer(12))
    cache.get(("a", "0x1"))
    last = CachedToken(snapshot(make_report()), started_as=1, until_s=1e12)
    cache.put(("d", "0x1"), last)
    assert [name for name in "abcd" if cache.get((name, "0x1"))] == ["a", "c", "d"]
    assert cache.held_bytes == 2 * (600 + 32_000) + last.held_bytes


def test_the_last_token_loses_answers_before_it_is_analysed_again() -> None:
    cache = TokenCache(max_bytes=100_000, now_s=HandClock())
    token = small()
    cache.put(("a", "0x1"), token)
    cache.add(("a", "0x1"), token, NATIVE, answer(60))
    cache.add(("a", "0x1"), token, SUMMARY, answer(70))
    assert cache.get(("a", "0x1")) is token
    assert (token.get(NATIVE), token.get(SUMMARY)) == (None, answer(70))
    cache.add(("a", "0x1"), token, NATIVE, answer(101))
    assert cache.get(("a", "0x1")) is token
    assert cache.held_bytes == 600


def test_a_report_above_the_bound_is_not_kept() -> None:
    cache = TokenCache(max_bytes=5_999, now_s=HandClock())
    cache.put(("a", "0x1"), CachedToken(snapshot(make_report()), started_as=0, until_s=1e12))
    assert cache.get(("a", "0x1")) is None
    assert cache.held_bytes == 0


def test_the_analysis_that_started_later_wins_whichever_ends_first() -> None:
    cache = TokenCache(max_bytes=100_000, now_s=HandClock())
    older, newer = small(started_as=1), small(started_as=2)
    assert cache.put(("a", "0x1"), newer) is newer
    assert cache.put(("a", "0x1"), older) is newer
    assert cache.put(("a", "0x1"), small(started_as=3)) is not newer
    assert cache.held_bytes == 600


def test_what_was_read_before_a_report_changed_is_not_kept_after_it() -> None:
    cache = TokenCache(max_bytes=100_000, now_s=HandClock())
    changed, other = ("a", "0x1"), ("a", "0x2")
    for token in (changed, other):
        cache.put(token, small(started_as=1))
    cache.forget(changed, before=5)
    assert cache.get(changed) is None
    assert cache.get(other) is not None
    cache.put(changed, small(started_as=4))  # it was running while the report changed
    assert cache.get(changed) is None
    cache.put(changed, small(started_as=6))
    assert cache.get(changed) is not None
    cache.forget_all(before=9)
    assert cache.held_bytes == 0
    cache.put(other, small(started_as=8))
    assert cache.get(other) is None
    cache.put(other, small(started_as=10))
    assert cache.get(other) is not None


def test_however_many_tokens_change_nothing_old_is_kept() -> None:
    cache = TokenCache(max_bytes=100_000, now_s=HandClock())
    for at in range(3_000):
        cache.forget(("a", f"0x{at}"), before=at)
    cache.put(("a", "0x0"), small(started_as=0))
    assert cache.held_bytes == 0  # that it was forgotten once is not known any more
    cache.put(("a", "0x2999"), small(started_as=2_998))
    assert cache.held_bytes == 0
    cache.put(("a", "0x0"), small(started_as=3_000))
    cache.put(("a", "0x2999"), small(started_as=3_000))
    assert cache.held_bytes == 1_200


def test_an_answer_of_what_is_gone_is_not_kept() -> None:
    cache = TokenCache(max_bytes=100_000, now_s=HandClock())
    old, new = small(started_as=1), small(started_as=2)
    cache.add(("a", "0x1"), old, NATIVE, answer(5))
    cache.put(("a", "0x1"), new)
    cache.add(("a", "0x1"), old, NATIVE, answer(5))
    assert (old.get(NATIVE), new.get(NATIVE)) == (None, None)
    assert cache.held_bytes == 600


def test_an_answer_rendered_twice_is_counted_once() -> None:
    cache = TokenCache(max_bytes=100_000, now_s=HandClock())
    token = small()
    cache.put(("a", "0x1"), token)
    for kilobytes in (10, 11):
        cache.add(("a", "0x1"), token, NATIVE, answer(kilobytes))
    assert cache.held_bytes == 11_600


def test_the_evidence_is_there_again_when_asked_for() -> None:
    rows = tuple(EvidenceRow(key=f"key{at}", body=f'{{"at":{at}}}') for at in range(3))
    whole = snapshot(msgspec.structs.replace(make_report(), evidence=rows))
    token = CachedToken(whole, started_as=0, until_s=1e12)
    assert isinstance(token.found, TokenSnapshot)
    assert token.found.report.evidence == ()
    assert token.complete(token.found) == whole


@pytest.mark.parametrize(("pools", "holders", "proofs"), [(0, 0, 0), (11, 10, 25), (3_000, 0, 0)])
def test_a_token_takes_no_more_than_is_counted(pools: int, holders: int, proofs: int) -> None:
    """Measured on a report as a store returns it: no two rows share a text."""
    made = make_report(
        pools=tuple(
            make_pool(
                ordinal=at,
                pool=Address(f"0x{at:040x}"),
                pool_id=f"0x{at:064x}",
                quote=Address(f"0x{at + 2**100:040x}"),
                liquidity_usd=at + 0.5,
                quote_side_usd=at / 3,
                buy_tax=at / 5,
                sell_tax=at / 7,
                token_usd=at / 11,
                error_message=f"a reason, {at:60}",
            )
            for at in range(pools)
        ),
        holders=tuple(
            make_holder(Address(f"0x{at:040x}"), 10**27 + at, at=at) for at in range(holders)
        ),
    )
    proved = tuple(EvidenceRow(key=f"key{at}", body=f"{at:30000}") for at in range(proofs))
    stored = pickle.dumps(snapshot(msgspec.structs.replace(made, evidence=proved)))
    held_bytes, used = min((_measure(stored) for _ in range(3)), key=lambda found: found[1])
    assert held_bytes / 3 < used < held_bytes


def _measure(stored: bytes) -> tuple[int, int]:
    """Bytes as counted and as taken; other threads of this process may add to these."""
    gc.collect()
    tracemalloc.start()
    try:
        read = pickle.loads(stored)  # noqa: S301 - written by the test
        token = CachedToken(read, started_as=0, until_s=1e12)
        del read
        gc.collect()
        return token.held_bytes, tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
