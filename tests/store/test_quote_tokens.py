"""Protects the quote tokens in the store: they are those that are configured now."""

import msgspec

from config.facts.load_chains import load_chains
from sql.chain.quote_tokens import write_quote_tokens
from sql.engine.store import Store
from tests.harness.store.store_contents import Cells, read_rows

CHAINS = load_chains(None)


def stored(store: Store) -> list[Cells]:
    return read_rows(
        store,
        "select chain_id, address, symbol, decimals, is_dollar from quote_token order by 1, 2",
    )


def test_every_chain_has_its_quote_tokens(store: Store) -> None:
    write_quote_tokens(store, CHAINS)
    expected = {
        (chain.id, anchor.address, anchor.symbol, anchor.decimals, int(anchor in chain.stables))
        for chain in CHAINS
        for anchor in chain.anchors
    }
    assert set(stored(store)) == expected


def test_what_is_not_configured_any_more_goes(store: Store) -> None:
    first, second = CHAINS[:2]
    write_quote_tokens(store, [first, second])
    one = first.stables[0]
    write_quote_tokens(store, [msgspec.structs.replace(first, stables=(one, one))])
    found = stored(store)
    assert {row[1] for row in found if row[0] == first.id} == {
        one.address,
        first.wrapped_native.address,
    }
    assert len([row for row in found if row[0] == second.id]) == len(second.anchors)
