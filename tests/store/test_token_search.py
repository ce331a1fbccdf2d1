"""Protects searches: results and order equal those of reading every report.

Reports from before searches existed are found after any number of interruptions.
"""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.service.record_report import record_refusal, record_report
from core.errors import StoreError
from core.report.report import Report
from core.report.rows import RefusalRow
from core.text.look_alikes import skeleton, skeleton_words
from sql.engine.store import Store
from sql.tokens import search_entries
from sql.tokens.search_entries import enter_stored_reports
from sql.tokens.token_search import (
    FoundToken,
    find_richest_namesakes,
    find_tokens,
    list_newest,
    list_richest,
)
from tests.harness.bare_reports import bare_report
from tests.harness.examples import one_in
from tests.harness.store.sample_rows import LATER, address, pool_result
from tests.harness.store.store_contents import Cells, read_rows, write_rows

CHAINS = (1, 56)


def named(number: int, name: str, symbol: str, usd: float = 0.0, *, chain_id: int = 1) -> Report:
    """A report on the token at the address of that number."""
    plain = bare_report(address(number), scanned_at_s=number)
    token = msgspec.structs.replace(plain.token, name=name, symbol=symbol, chain_id=chain_id)
    pool = msgspec.structs.replace(pool_result(ordinal=0), quote_side_usd=usd)
    return msgspec.structs.replace(plain, token=token, pools=(pool,))


def fill(store: Store, *reports: Report) -> None:
    for report in reports:
        record_report(store, report, LATER)


def find(store: Store, text: str, *, chains: Sequence[int] = CHAINS, most: int = 20) -> list[int]:
    """The numbers of the addresses found, in order."""
    return numbers(find_tokens(store, text, chain_ids=chains, at_most=most))


def numbers(found: Sequence[FoundToken]) -> list[int]:
    return [int(one.address, 16) for one in found]


ZOO = (
    named(1, "Pepe", "PEPE", 5e7),
    named(2, "Pepe", "\u0420\u0415\u0420\u0415", 3e3),  # Cyrillic
    named(3, "Pepe Classic", "PEPEC", 9e8),
    named(4, "Baby Pepe", "BABY", 40.0),
    named(5, "Pepe", "PEPE", 2e5, chain_id=56),
    named(6, "Shiba Inu", "SHIB", 1e6),
    named(7, "Tether USD", "USDT", 1e9),
    named(8, "", "\u202e\u200b", 1.0),
    named(9, "Pepper", "PPR", 7e3),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("PEPE", [1, 5, 2, 3, 4]),  # the symbol, by money; like it; beginning with it
        ("pepe", [1, 5, 2, 3, 4]),
        ("\u0420\u0415\u0420\u0415", [2, 1, 5, 3, 4]),
        ("pep", [3, 1, 5, 2, 9, 4]),
        ("pepe classic", [3]),
        ("baby p", [4]),
        ("inu", [6]),
        ("shibainu", [6]),
        ("usd", [7]),
        ("USD\u0422", [7]),
        ("nothing", []),
        ("", []),
        ("\u202e", []),
        ("%", []),
    ],
)
def test_the_best_match_with_the_most_money_comes_first(
    store: Store, text: str, found: list[int]
) -> None:
    fill(store, *ZOO)
    assert find(store, text) == found


def test_one_chain_can_be_searched_alone(store: Store) -> None:
    fill(store, *ZOO)
    assert find(store, "pepe", chains=[56]) == [5]


def test_of_many_namesakes_those_with_money_are_seen(store: Store) -> None:
    fill(store, *(named(number, "Doge", "DOGE", 2.0**number) for number in range(1, 80)))
    assert find(store, "doge", most=5) == [79, 78, 77, 76, 75]
    assert find(store, "dog", most=2) == [79, 78]


words = st.sampled_from(["Pe", "pe", "Doge", "d0ge", "Inu", "USD", "\u0441at", "cat"])
names = st.lists(words, max_size=3).map(" ".join)
listed = st.lists(st.tuples(names, words, st.floats(0, 1e6), st.sampled_from(CHAINS)), max_size=12)


@settings(
    max_examples=one_in(2),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(tokens=listed, text=names)
def test_a_search_finds_what_reading_every_name_finds(
    store: Store, tokens: list[tuple[str, str, float, int]], text: str
) -> None:
    with store.transaction() as tx:
        for number in range(1, 13):
            for chain_id in CHAINS:
                found = tx.fetch_tuples(
                    "tokens/find_token", chain_id=chain_id, address=bytes.fromhex(f"{number:040x}")
                )
                for row in found:
                    search_entries.delete_search_entry(tx, row[0])
    fill(
        store,
        *(
            named(number, name, symbol, usd, chain_id=chain_id)
            for number, (name, symbol, usd, chain_id) in enumerate(tokens, 1)
        ),
    )
    key = skeleton_words(text)
    expected = set()
    for number, (name, symbol, _, _) in enumerate(tokens, 1):
        parts = skeleton_words(name)
        tails = [" ".join(parts[at:]) for at in range(len(parts))]
        of_token = [skeleton(symbol), "".join(parts), *tails]
        if key and any(t.startswith((" ".join(key), "".join(key))) for t in of_token):
            expected.add(number)
    assert set(find(store, text, most=100)) == expected


def test_a_new_report_replaces_how_the_token_is_found(store: Store) -> None:
    fill(store, named(1, "Old Name", "OLD", 5.0))
    fill(store, named(1, "New", "NEW", 5e6))
    assert (find(store, "old"), find(store, "name"), find(store, "new")) == ([], [], [1])
    assert read_rows(store, "select tier, term from search_term") == [(7, "new")]


def test_a_refused_token_is_found_no_more(store: Store) -> None:
    fill(store, named(1, "Token", "TKN", 5.0))
    refusal = RefusalRow(code="not_a_token", reason="", refused_at_s=9)
    record_refusal(store, chain_id=1, address=address(1), refusal=refusal, refresh=LATER)
    assert find(store, "token") == []
    assert read_rows(store, "select count(*) from search_term") == [(0,)]
    assert list_newest(store, at_most=5) == []


def test_the_namesakes_with_the_most_money_are_known(store: Store) -> None:
    fill(store, *ZOO)
    names = [(1, "\u0420EPE"), (1, "pepe"), (1, "Baby Pepe"), (1, "\u202e"), (56, "nothing")]
    found = find_richest_namesakes(store, names)
    assert {name: (int(one.address, 16), one.usd) for name, one in found.items()} == {
        (1, skeleton("pepe")): (1, 5e7)
    }  # Baby Pepe is a name
    assert find_richest_namesakes(store, []) == {}


@settings(max_examples=one_in(4), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(CHAINS),
            st.sampled_from(("PEPE", "\u0420EPE", "pepe2", "Z" * 80, "Z" * 81)),
            st.sampled_from((0.0, 5.0, 50.0, 5e6, 6e6)),
        ),
        max_size=8,
    )
)
def test_namesakes_of_a_page_are_those_of_a_reading_of_every_token(
    store: Store, tokens: list[tuple[int, str, float]]
) -> None:
    for table in ("search_term", "search_entry", "report"):
        write_rows(store, f"delete from {table}")  # noqa: S608
    wanted: dict[tuple[int, str], float] = {}
    for number, (chain_id, symbol, usd) in enumerate(tokens, 1):
        fill(store, named(number, "", symbol, usd, chain_id=chain_id))
        key = (chain_id, skeleton(symbol))
        wanted[key] = max(wanted.get(key, 0.0), usd)
    found = find_richest_namesakes(store, [(chain_id, symbol) for chain_id, symbol, _ in tokens])
    assert {name: one.usd for name, one in found.items()} == wanted


def test_the_newest_and_the_richest_are_listed(store: Store) -> None:
    fill(store, *ZOO)
    assert numbers(list_newest(store, at_most=3)) == [9, 8, 7]
    assert numbers(list_richest(store, above_usd=1e6, at_most=9)) == [7, 3, 1]


def forget_entries(store: Store) -> None:
    """Leave the tables as their migration does, on a store from before it."""
    for table in ("search_entry", "search_term", "import_progress"):
        write_rows(store, f"delete from {table}")  # noqa: S608
    write_rows(
        store,
        "insert into import_progress (step, done) select 'search_until', max(token_id) from report",
    )


def entries_of(store: Store) -> list[list[Cells]]:
    return [
        read_rows(store, f"select * from {table} order by 1, 2, 3, 4")  # noqa: S608
        for table in ("search_term", "search_entry")
    ]


def test_stored_reports_are_entered_in_steps(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_entries, "_ENTERED_AT_ONCE", 2)
    fill(store, *ZOO)
    whole = entries_of(store)
    forget_entries(store)
    assert find(store, "pepe") == []
    fill(store, ZOO[5])  # replaced before its turn
    steps = 0
    while enter_stored_reports(store):
        steps += 1
        with monkeypatch.context() as patch, pytest.raises(StoreError):  # one that is interrupted
            patch.setattr(search_entries, "put_search_entry", _interrupted)
            enter_stored_reports(store)
            raise StoreError(path="", reason="nothing was left to interrupt")
    assert steps == len(ZOO) // 2
    assert entries_of(store) == whole
    assert not enter_stored_reports(store)


def _interrupted(*_: object, **__: object) -> None:
    raise StoreError(path="", reason="interrupted")
