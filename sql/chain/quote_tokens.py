"""Quote tokens of chains in the store, for the value of trades in SQL."""

from collections.abc import Iterable

import msgspec

from config.facts.chain import Chain
from core.evm.primitives import Address
from sql.engine.store import Store


class QuoteToken(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `quote_token`."""

    chain_id: int
    address: Address
    symbol: str
    decimals: int
    is_dollar: bool


def write_quote_tokens(store: Store, chains: Iterable[Chain]) -> None:
    """Replace the quote tokens of these chains. Raises StoreError."""
    with store.transaction() as tx:
        for chain in chains:
            tx.execute("quotes/delete_quotes", chain_id=chain.id)
            tx.insert("quote_token", _quotes_of(chain), on_conflict="replace")


def _quotes_of(chain: Chain) -> list[QuoteToken]:
    return [
        QuoteToken(
            chain_id=chain.id,
            address=anchor.address,
            symbol=anchor.symbol,
            decimals=anchor.decimals,
            is_dollar=is_dollar,
        )
        for anchors, is_dollar in (((chain.wrapped_native,), False), (chain.stables, True))
        for anchor in anchors
    ]
