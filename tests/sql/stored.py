"""What is stored of transfers, read back plainly."""

import msgspec

from core.primitives import Address
from sql.store import Store


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """One stored transfer."""

    chain_id: int
    block_number: int
    log_index: int
    token: Address
    sender: Address
    recipient: Address
    amount_raw: int


def transfers_of(store: Store, token: Address) -> list[Transfer]:
    """All of a token, in chain order."""
    with store.cursor() as cursor:
        rows = cursor.execute(
            "select t.chain_id, t.block_number, t.log_index, token.address, s.address, r.address,"
            " [word0, word1, word2, word3]"
            " from transfer t join token using (token_id)"
            " join address s on s.address_id = sender_id"
            " join address r on r.address_id = recipient_id"
            " where token.address = $token order by block_number, log_index",
            {"token": token},
        ).fetchall()
    return [
        Transfer(
            chain_id=row[0],
            block_number=row[1],
            log_index=row[2],
            token=row[3],
            sender=row[4],
            recipient=row[5],
            amount_raw=sum(word << (64 * at) for at, word in enumerate(row[6])),
        )
        for row in rows
    ]


def undecoded_in(store: Store) -> list[tuple[object, ...]]:
    """All undecoded logs, in chain order."""
    with store.cursor() as cursor:
        query = "from undecoded order by chain_id, block_number, log_index"
        return [tuple(row) for row in cursor.execute(query).fetchall()]
