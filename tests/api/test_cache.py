"""Protects the cache of answers: fresh, within its bound, one run for all who wait."""

from api.serving.answer_cache import AnswerCache, CachedAnswer
from harness.clock import HandClock


def answer(kilobytes: int) -> CachedAnswer:
    """One that takes so much memory, of which a thousand bytes are not its body."""
    made = CachedAnswer(status=200, body=b"x" * (1_000 * kilobytes - 1_000))
    assert made.held_bytes == 1_000 * kilobytes
    return made


def test_an_answer_is_served_until_its_time_is_up() -> None:
    watch = HandClock()
    cache = AnswerCache[str](max_bytes=100_000, now_s=watch)
    cache.put("a", answer(10), for_s=120)
    watch.now_s += 119.9
    assert cache.get("a") == answer(10)
    watch.now_s += 0.1
    assert cache.get("a") is None
    assert cache.held_bytes == 0


def test_the_least_recently_used_go_first() -> None:
    cache = AnswerCache[str](max_bytes=100_000, now_s=HandClock())
    for key in "abc":
        cache.put(key, answer(33), for_s=60)
    cache.get("a")
    cache.put("d", answer(33), for_s=60)
    assert [key for key in "abcd" if cache.get(key)] == ["a", "c", "d"]
    assert cache.held_bytes == 99_000


def test_an_answer_above_the_bound_is_not_kept() -> None:
    cache = AnswerCache[str](max_bytes=100_000, now_s=HandClock())
    cache.put("a", answer(101), for_s=60)
    assert cache.get("a") is None
    assert cache.held_bytes == 0


def test_a_new_answer_takes_the_place_of_the_old_one() -> None:
    cache = AnswerCache[str](max_bytes=100_000, now_s=HandClock())
    cache.put("a", answer(60), for_s=60)
    cache.put("a", answer(70), for_s=60)
    assert cache.get("a") == answer(70)
    assert cache.held_bytes == 70_000


def test_another_form_lasts_as_long_as_what_it_was_made_from() -> None:
    watch = HandClock()
    cache = AnswerCache[str](max_bytes=100_000, now_s=watch)
    plain, packed = answer(10), answer(5)
    cache.put("a", plain, for_s=120)
    watch.now_s += 100
    cache.put_beside("a.gz", packed, of="a", made_from=plain)
    assert cache.get("a.gz") == packed
    assert cache.held_bytes == 15_000
    watch.now_s += 20
    assert cache.get("a.gz") is None


def test_another_form_of_what_is_gone_is_not_kept() -> None:
    cache = AnswerCache[str](max_bytes=100_000, now_s=HandClock())
    old, new = answer(10), answer(11)
    cache.put_beside("a.gz", answer(5), of="a", made_from=old)
    cache.put("a", new, for_s=120)
    cache.put_beside("a.gz", answer(5), of="a", made_from=old)
    assert cache.get("a.gz") is None
