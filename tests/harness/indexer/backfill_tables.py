"""Expected tables of a back-filled chain."""

import msgspec

from tests.harness.indexer.expected_tables import Tables, without_liquidity


def without_follow(tables: Tables) -> Tables:
    """A back-fill has its own checkpoint, and leaves open from where on transfers are whole."""
    return msgspec.structs.replace(
        without_liquidity(tables),
        checkpoint=None,
        tokens=[(*row[:3], None) for row in tables.tokens],
    )
