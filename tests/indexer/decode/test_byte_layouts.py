"""The fast decoder of answers equals the general one, for good answers and bad ones.

And both equal the source of the logs.
"""

import random
from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.decode import log_answers
from indexer.decode.byte_layouts import ByteLayout
from indexer.decode.learned_layouts import MOST_LAYOUTS, MOST_OF_A_LENGTH, LayoutCache, learn
from indexer.decode.log_answers import LogDecoder
from indexer.decode.log_columns import LogColumns
from indexer.decode.logs import decode_logs
from tests.harness.indexer.log_answers import (
    CHANGES,
    NODES,
    damage,
    lot_of,
    make_logs,
    members_of,
    put,
    write_answer,
)
from tests.harness.indexer.wire_logs import Row, expected_rows, rows_of

MANY = settings(
    max_examples=20 * settings().max_examples,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
SEEDS = st.integers(0, 2**32)
NODE_NAMES = st.sampled_from(sorted(NODES))


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of a few logs, so that there can be many."""
    monkeypatch.setattr(log_answers, "_SMALL_BYTES", 0)
    monkeypatch.setattr(log_answers, "_WORTH_LEARNING", 2)


@pytest.fixture(scope="module")
def decoder() -> LogDecoder:
    """One for all answers: layouts learned from one meet the next."""
    return LogDecoder()


def outcome(decode: LogDecoder | None, text: bytes) -> list[Row] | str:
    """The rows, or the refusal in words. None: of the general decoder."""
    try:
        return rows_of(decode_logs(text) if decode is None else decode.decode(text))
    except ValueError as error:
        return str(error)


@MANY
@given(
    seed=SEEDS,
    node=NODE_NAMES,
    count=st.integers(1, 24),
    changes=st.lists(st.tuples(st.integers(0, 23), st.sampled_from(sorted(CHANGES))), max_size=3),
    damages=st.sampled_from([0, 0, 0, 1, 2]),
)
def test_both_decoders_say_the_same(
    decoder: LogDecoder,
    seed: int,
    node: str,
    count: int,
    changes: list[tuple[int, str]],
    damages: int,
) -> None:
    lot = lot_of(seed)
    logs = [members_of(log, NODES[node]) for log in make_logs(lot, count)]
    for at, name in changes:
        logs[at % count] = CHANGES[name](logs[at % count], lot)
    text = write_answer(logs, NODES[node])
    for _ in range(damages):
        text = damage(text, lot)
    assert outcome(decoder, text) == outcome(None, text)


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_no_single_change_is_overlooked(change: str) -> None:
    """Neither in all logs of an answer nor in one among others, whose layouts are known."""
    lot = lot_of(change)
    for node in NODES.values():
        decoder = LogDecoder()
        made = make_logs(lot, 12)
        plain = [members_of(log, node) for log in made]
        assert outcome(decoder, write_answer(plain, node)) == expected_rows(made, node)
        for _ in range(6):  # each time another member of another log is changed
            one = list(plain)
            at = lot.randrange(12)
            one[at] = CHANGES[change](one[at], lot)
            for logs in (one, [CHANGES[change](log, lot) for log in plain]):
                text = write_answer(logs, node)
                assert outcome(decoder, text) == outcome(None, text)


STRUCTURES: Mapping[str, Callable[[bytes, bytes], bytes]] = {
    "a semicolon": lambda one, two: b"[" + one + b";" + two + b"]",
    "no comma": lambda one, two: b"[" + one + two + b"]",
    "two commas": lambda one, two: b"[" + one + b",," + two + b"]",
    "another separator": lambda one, two: b"[" + one + b" , " + two + b"]",
    "a comma at the end": lambda one, two: b"[" + one + b"," + two + b",]",
    "no end": lambda one, two: b"[" + one + b"," + two,
    "no beginning": lambda one, two: one + b"," + two + b"]",
    "two ends": lambda one, two: b"[" + one + b"," + two + b"]]",
    "more behind the end": lambda one, two: b"[" + one + b"," + two + b"]x",
    "more before the beginning": lambda one, two: b"1[" + one + b"," + two + b"]",
    "a list in the list": lambda one, two: b"[[" + one + b"," + two + b"]]",
    "blanks around": lambda one, two: b" [ " + one + b"," + two + b"\n] ",
    "blanks behind an object": lambda one, two: b"[" + one + b" ," + two + b"]",
    "a number among them": lambda one, two: b"[" + one + b",1," + two + b"]",
    "no list": lambda one, two: b'{"a":' + one + b"}",
    "null": lambda one, two: b"null",
    "nothing": lambda one, two: b"",
    "an empty object": lambda one, two: b"[" + one + b",{}," + two + b"]",
    "a list that is empty": lambda one, two: b"[]",
}


@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_what_stands_between_and_around_logs_is_checked(structure: str) -> None:
    node = NODES["geth"]
    known = [members_of(log, node) for log in make_logs(lot_of(1), 40)]
    decoder = LogDecoder()
    assert len(decoder.decode(write_answer(known, node))) == 40
    for count in (2, 3, 40):
        halves = known[: count // 2], known[count // 2 : count]
        one, two = (write_answer(half, node)[1:-1] for half in halves)
        text = STRUCTURES[structure](one, two)
        assert outcome(decoder, text) == outcome(None, text)


@pytest.mark.parametrize(
    ("key", "most", "above"),
    [
        ("blockNumber", 2**63 - 1, 2**63),
        ("blockTimestamp", 2**63 - 1, 2**63),
        ("logIndex", 2**31 - 1, 2**31),
    ],
)
def test_a_number_that_is_too_large_is_seen_in_a_known_layout(
    key: str, most: int, above: int
) -> None:
    node = NODES["geth"]
    made = make_logs(lot_of(1), 1) * 9
    good = [
        put(key, f'"{most - at:#x}"')(members_of(log, node), lot_of(1))
        for at, log in enumerate(made)
    ]
    decoder = LogDecoder()
    assert len(decoder.decode(write_answer(good, node))) == 9
    bad = [*good, put(key, f'"{above:#x}"')(good[0], lot_of(1))]
    text = write_answer(bad, node)
    assert outcome(decoder, text) == outcome(None, text)


@given(seed=SEEDS, node=NODE_NAMES)
def test_what_was_made_is_decoded(decoder: LogDecoder, seed: int, node: str) -> None:
    made = make_logs(lot_of(seed), 60)
    text = write_answer([members_of(log, NODES[node]) for log in made], NODES[node])
    assert outcome(decoder, text) == expected_rows(made, NODES[node])
    assert outcome(None, text) == expected_rows(made, NODES[node])


@pytest.mark.parametrize("node", sorted(NODES))
def test_once_learned_no_log_needs_the_general_decoder(
    node: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_answers, "_WORTH_LEARNING", 1)
    decoder = LogDecoder()
    made = make_logs(lot_of(7), 5_000)
    text = write_answer([members_of(log, NODES[node]) for log in made], NODES[node])
    decoder.decode(text)

    def refuse(*_: object) -> LogColumns:
        raise AssertionError

    monkeypatch.setattr(log_answers, "decode_logs", refuse)
    monkeypatch.setattr(log_answers, "columns_of", refuse)
    assert rows_of(decoder.decode(text)) == expected_rows(made, NODES[node])


def varied(lot: random.Random, count: int, *, one_length: bool) -> bytes:
    """Logs of many lengths, or of many layouts of one length."""
    node = NODES["geth"]
    logs = [members_of(log, node) for log in make_logs(lot, count)]
    for at, log in enumerate(logs):
        if one_length:
            log[:] = lot.sample(log, len(log))
        else:
            note = "x" * (at % (count // 3))
            log.append(('"note"', f'"{note}"'))
    return write_answer(logs, node)


@pytest.mark.parametrize("one_length", [True, False])
def test_layouts_and_lessons_are_bounded(one_length: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[bytes] = []

    def counted(text: bytes) -> ByteLayout | None:
        tried.append(text)
        return learn(text)

    monkeypatch.setattr("indexer.decode.learned_layouts.learn", counted)
    decoder = LogDecoder()
    for seed in range(25):
        text = varied(lot_of(seed), 1_500, one_length=one_length)
        before = len(tried)
        assert len(decoder.decode(text)) == 1_500
        assert len(tried) - before <= 8 + 1_500 // 64
    assert MOST_OF_A_LENGTH <= decoder.layouts <= MOST_LAYOUTS


def test_a_length_keeps_the_layouts_used_last() -> None:
    cache = LayoutCache()
    cache.begin_answer(64 * 100)
    texts = []
    for seed in range(MOST_OF_A_LENGTH + 3):
        node = NODES["geth"]
        (log,) = (members_of(one, node) for one in make_logs(lot_of(1), 1))
        shuffled = lot_of(seed).sample(log, len(log))
        texts.append(write_answer([shuffled], node)[1:-1])
    for text in texts:
        assert cache.learn(text) is not None
        first = cache.of_length(len(text))[-1]
        cache.note_use(len(text), first)
    known = cache.of_length(len(texts[0]))
    assert len(known) == len(cache) == MOST_OF_A_LENGTH
