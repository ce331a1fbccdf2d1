"""Decoder of creation events that list a pool's tokens, with a row for each pair of them.

A pool of more than two tokens trades each against every other. Such events are rare and their data
has no fixed length, so they are decoded log by log.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from config.facts.chain import Dex
from core.evm.coin_pairs import pair_id, token_pair_id
from core.evm.event_signatures import ListPlace
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32, HexBytes
from core.report.rows import PoolRow
from indexer.decode.forms import TokenListForm
from indexer.decode.hex_columns import encode_hex, keys_of
from indexer.decode.log_columns import ADDRESS_BYTES, NO_HASH, WORD_BYTES, LogColumns, LogGroup
from indexer.decode.transfer_events import PLAIN_TRANSFER

_MOST_TOKENS = 8
"""Most tokens in a pool of any of these exchanges."""
_PADDING = bytes(WORD_BYTES - ADDRESS_BYTES)

FindMinter = Callable[[bytes, int], Address | None]
"""Finds a contract by transaction hash and log index in the block. None: there is none."""


def find_minters(logs: LogColumns) -> FindMinter:
    """Return the search for the last contract that announced itself before a log of a transaction.

    An announcement is a Transfer of 0 from the zero address.
    """
    found: dict[bytes, list[tuple[int, Address]]] = {}
    for group in logs.groups:
        if group.shape != PLAIN_TRANSFER:
            continue
        rows = np.flatnonzero(~group.topics[:, 0].any(axis=1) & ~group.data.any(axis=1))
        own = group.take(rows)
        places = zip(own.log_index.tolist(), encode_hex(own.address), strict=True)
        for tx_hash, (log_index, address) in zip(keys_of(own.tx_hash), places, strict=True):
            found.setdefault(tx_hash, []).append((log_index, Address(address)))
    found.pop(NO_HASH, None)  # the node did not send the hash with the log

    def find(tx_hash: bytes, log_index: int) -> Address | None:
        before = [one for one in found.get(tx_hash, ()) if one[0] < log_index]
        return max(before)[1] if before else None

    return find


def listed_pools(
    group: LogGroup,
    row: int,
    form: TokenListForm,
    dex: Dex,
    *,
    chain_id: int,
    find_minter: FindMinter,
) -> list[PoolRow]:
    """Return the pairs of one pool. Empty: the log does not have the event's form, or its pool is
    unknown."""
    tokens = _tokens(group.data[row].tobytes(), form.tokens)
    log_index = int(group.log_index[row])
    pool: Address | None = Address(dex.factory)
    if form.pool is not None:
        pool = _address(form.pool.of(group)[row].tobytes())
    elif form.pool_id is None and form.vault_pool is None:
        pool = find_minter(group.tx_hash[row].tobytes(), log_index)
    if pool is None or len(tokens) < len(("token0", "token1")):
        return []
    known_as = _in_vault(group, row, form)
    if known_as is None:
        pairs = [
            (pair_id(pool, first, second), token0, token1)
            for (first, token0), (second, token1) in combinations(enumerate(tokens), 2)
        ]
    else:
        pairs = _vault_pairs(known_as, tokens)
    return [
        _pool_row(
            dex,
            chain_id,
            pool,
            pair,
            block_number=int(group.block_number[row]),
            log_index=log_index,
        )
        for pair in pairs
    ]


def _in_vault(group: LogGroup, row: int, form: TokenListForm) -> bytes | None:
    """Return the vault's key for the pool: an id, or its address. None: there is no vault."""
    if form.pool_id is not None:
        return bytes(form.pool_id.of(group)[row])
    if form.vault_pool is not None:
        return bytes(form.vault_pool.of(group)[row])[-ADDRESS_BYTES:]
    return None


_Pair = tuple[Hash32 | None, Address, Address]
"""Pool id (None: the pool's address is its key) and the two tokens."""


def _vault_pairs(vault_id: bytes, tokens: Sequence[Address]) -> list[_Pair]:
    """Return the pairs of a pool in a vault, the lower address first."""
    return [
        (_vault_pair_id(vault_id, token0, token1), token0, token1)
        for token0, token1 in combinations(sorted(tokens), 2)
    ]


def _vault_pair_id(vault_id: bytes, token0: Address, token1: Address) -> Hash32:
    sides = (bytes.fromhex(token[2:]) for token in (token0, token1))
    return Hash32("0x" + token_pair_id(vault_id, *sides).hex())


def _pool_row(
    dex: Dex,
    chain_id: int,
    pool: Address,
    pair: _Pair,
    *,
    block_number: int,
    log_index: int,
) -> PoolRow:
    pool_id, token0, token1 = pair
    return PoolRow(
        chain_id=chain_id,
        pool_key=HexBytes(pool_id or pool),
        pool=pool,
        pool_id=pool_id,
        dex=dex.name,
        kind=dex.kind,
        variant=dex.variant,
        factory=Address(dex.factory),
        token0=token0,
        token1=token1,
        fee=None,
        tick_spacing=None,
        stable=None,
        hooks=None,
        block_number=block_number,
        log_index=log_index,
    )


def _tokens(data: bytes, place: ListPlace) -> Sequence[Address]:
    """Return the tokens up to the first zero address. Empty: there is no such list."""
    start, length = place.index * WORD_BYTES, place.length
    if length is None:
        offset = _number(data, start)
        start, length = offset + WORD_BYTES, _number(data, offset)
    width = place.width * WORD_BYTES
    if length > _MOST_TOKENS or start + length * width > len(data):
        return ()
    words = (data[at : at + WORD_BYTES] for at in range(start, start + length * width, width))
    found = [_address(word) for word in words]
    if None in found or len({*found} - {ZERO_ADDRESS}) != len(found) - found.count(ZERO_ADDRESS):
        return ()
    tokens = [one for one in found if one is not None]
    return tokens[: tokens.index(ZERO_ADDRESS)] if ZERO_ADDRESS in tokens else tokens


def _number(data: bytes, at: int) -> int:
    """Return a word's number. If the data ends before the word, one above any offset or length."""
    word = data[at : at + WORD_BYTES]
    return int.from_bytes(word) if len(word) == WORD_BYTES else 1 << 255


def _address(word: bytes) -> Address | None:
    """Return the address in a word. None: the word exceeds 20 bytes."""
    if not word.startswith(_PADDING):
        return None
    return Address("0x" + word[-ADDRESS_BYTES:].hex())
