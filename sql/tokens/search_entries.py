"""Search entries of analysed tokens, written with their reports.

A term is the skeleton of a symbol, or of a name from one of its words on: a search for the
beginning of either finds the token. Terms are indexed by tier of liquidity, so the first results of
any search have the most liquidity, however many tokens there are.
"""

import math

import msgspec

from core.text.look_alikes import skeleton, skeleton_words
from sql.engine.database import Transaction
from sql.engine.store import Store

MOST_TERM_CHARS = 40
"""Longer terms are cut, when stored and when looked up."""

HIGHEST_TIER = 12
"""Trillions of USD and above."""

_MOST_WORDS = 6
"""Words of a name that a term begins with."""

_ENTERED_AT_ONCE = 500
"""Stored reports entered in one transaction: it holds the write lock for some 20 ms."""

_STEP = "search"
_UNTIL = "search_until"


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    chain_id: int
    usd: float
    tier: int
    terms: str


class _Unentered(msgspec.Struct, frozen=True, kw_only=True):
    token_id: int
    chain_id: int
    name: str
    symbol: str
    usd: float
    is_entered: bool


class _Done(msgspec.Struct, frozen=True, kw_only=True):
    done: int


def put_search_entry(
    tx: Transaction, *, token_id: int, chain_id: int, name: str, symbol: str, usd: float
) -> None:
    """Store or replace a token's search entry.

    `usd`: value of the other side of its pools. Unchanged terms are not written again: reports are
    replaced far more often than names.
    """
    usd = usd if math.isfinite(usd) else 0.0
    tier, terms = search_rows(name, symbol, usd)
    entry = _Entry(chain_id=chain_id, usd=usd, tier=tier, terms=terms)
    former = tx.fetch_one("search/find_entry", _Entry, token_id=token_id)
    if former == entry:
        return
    if former is None or (former.tier, former.terms) != (entry.tier, entry.terms):
        if former is not None:
            _delete_terms(tx, token_id, former)
        tx.execute_many(
            "search/insert_term",
            ((chain_id, entry.tier, term, token_id) for term in entry.terms.splitlines()),
        )
    tx.execute(
        "search/put_entry",
        token_id=token_id,
        chain_id=chain_id,
        usd=entry.usd,
        tier=entry.tier,
        terms=entry.terms,
    )


def search_rows(name: str, symbol: str, usd: float) -> tuple[int, str]:
    """Return the tier of a token and its terms, joined by line ends."""
    return tier_of(usd), "\n".join(_terms(name, symbol))


def delete_search_entry(tx: Transaction, token_id: int) -> None:
    """Delete a token's entry, if it has one."""
    former = tx.fetch_one("search/find_entry", _Entry, token_id=token_id)
    if former is not None:
        _delete_terms(tx, token_id, former)
        tx.execute("search/delete_entry", token_id=token_id)


def enter_stored_reports(store: Store) -> bool:
    """Add search entries for the next reports of an old release; True if more are left.

    Each step is one transaction that records its progress, so an interrupted run continues. Raises
    StoreError.
    """
    until, done = _progress(store, _UNTIL), _progress(store, _STEP)
    if done >= until:
        return False
    with store.transaction() as tx:
        rows = tx.fetch(
            "search/list_unentered", _Unentered, done=done, until=until, at_most=_ENTERED_AT_ONCE
        )
        for row in rows:
            if not row.is_entered:  # else its report has been replaced in the meantime
                put_search_entry(
                    tx,
                    token_id=row.token_id,
                    chain_id=row.chain_id,
                    name=row.name,
                    symbol=row.symbol,
                    usd=row.usd,
                )
        is_last = len(rows) < _ENTERED_AT_ONCE
        tx.execute("imports/put_progress", step=_STEP, done=until if is_last else rows[-1].token_id)
    return not is_last


def _progress(store: Store, step: str) -> int:
    found = store.fetch_one("imports/find_progress", _Done, step=step)
    return 0 if found is None else found.done


def _delete_terms(tx: Transaction, token_id: int, entry: _Entry) -> None:
    tx.execute_many(
        "search/delete_term",
        ((entry.chain_id, entry.tier, term, token_id) for term in entry.terms.splitlines()),
    )


def tier_of(usd: float) -> int:
    """Return the number of integer digits of an amount in USD: 0 below one."""
    return 0 if usd < 1 else min(HIGHEST_TIER, int(math.log10(usd)) + 1)


def _terms(name: str, symbol: str) -> list[str]:
    """Return the terms of a token, sorted; none if neither name nor symbol has a skeleton."""
    words = skeleton_words(name)
    texts = {skeleton(symbol), "".join(words)}
    texts.update(" ".join(words[at:]) for at in range(min(len(words), _MOST_WORDS)))
    return sorted({text[:MOST_TERM_CHARS] for text in texts} - {""})
