"""Pools in Balancer's vaults, of two and more tokens: reserves of two tokens, and swap amounts.

No getter lists the pools of two tokens, so only the index knows them. Source:
probes/VaultReader.sol and probes/VaultPoolReader.sol.
"""

from collections.abc import Sequence

import msgspec

from analysis import probes
from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.trade_route import Moved
from analysis.reads.chain_reads import AnswerAddress, call_of
from analysis.reads.eth_reads import WORD, Reply, words_of
from analysis.reads.read_batch import ReadBatch
from analysis.simulation.simulate_v1 import SimLog
from core.evm.abi import address_word, topic_of
from core.evm.coin_pairs import token_pair_id
from core.evm.primitives import Address, Hash32, RawAmount, low_address

_SWAP_TOPICS = 4
_STATE_WORDS = 6
_WHOLE_FEE = 10**18
_ADDRESS_CHARS = 42


class VaultReads:
    """The read of one pool's balances of two tokens, and of how the vault knows it."""

    def __init__(
        self,
        batch: ReadBatch,
        pair: Candidate | Lookup,
        pool: Address | AnswerAddress,
        *,
        probe: str,
        id_bytes: int,
    ) -> None:
        """`pool` is the vault; the id of the pair begins with the pool's address. There are no
        look-ups. `probe`: its name. `id_bytes`: of what the vault knows a pool by."""
        pool_id = pair.pool_id if isinstance(pair, Candidate) else None
        if pool_id is None:
            message = "pools of a vault are known by their ids only"
            raise TypeError(message)
        read = call_of(
            # The same place in every analysis, so that a recorded one can be replayed.
            low_address(int(topic_of(probe), 16)),
            "read(address,address,address,address)",
            *(pool, pool_address(pool_id), pair.token, pair.quote),
        )
        read = msgspec.structs.replace(read, code=probes.runtime(probe))
        self._batch = batch
        self._id_bytes = id_bytes
        self._words = batch.add(read, returns=_words)

    def read(self, candidate: Candidate) -> PoolState | None:
        """Decode the state of the pool. None: the vault knows no such pool, or the node refused the
        call. Raises UpstreamError."""
        words = self._batch.get(self._words)
        if not words:
            return None
        vault_id, token, quote, offered, given, fee = words
        if not vault_id or self._pair_id(candidate, vault_id) != candidate.pool_id:
            return None
        is_priced = offered > 0 and given > 0 and fee < _WHOLE_FEE
        return PoolState(
            token_reserve_raw=RawAmount(token),
            quote_reserve_raw=RawAmount(quote),
            in_range_liquidity=None,
            price=given / offered / (1 - fee / _WHOLE_FEE) if is_priced else None,
            vault_id=Hash32(f"0x{vault_id:064x}"),
        )

    def _pair_id(self, candidate: Candidate, vault_id: int) -> str | None:
        if vault_id >> 8 * self._id_bytes:
            return None
        sides = (bytes.fromhex(token[2:]) for token in (candidate.token, candidate.quote))
        return "0x" + token_pair_id(vault_id.to_bytes(self._id_bytes), *sides).hex()


def pool_address(pool_id: Hash32) -> Address:
    """Return the address of the pool's contract, with which the id of a pair begins."""
    return Address(pool_id[:_ADDRESS_CHARS])


def last_swap(
    candidate: Candidate,
    logs: Sequence[SimLog],
    *,
    event: str,
    known_as: str | None,
    token_in_is_0: bool,
) -> tuple[Moved, bytes] | None:
    """Return the amounts of the pool's last swap in this direction, and what the event has behind
    them. None: there was none.

    `event`: topic 0. `known_as`: the word by which the event names the pool.
    """
    is_sale = token_in_is_0 == candidate.token_is_0
    sides = (candidate.token, candidate.quote) if is_sale else (candidate.quote, candidate.token)
    wanted = (event, known_as, *map(address_word, sides))
    for log in reversed(logs):
        if log.address != candidate.pool or len(log.topics) != _SWAP_TOPICS:
            continue
        data = bytes.fromhex(log.data[2:])
        if tuple(log.topics) == wanted and len(data) >= 2 * WORD:
            received, sent = int.from_bytes(data[:WORD]), int.from_bytes(data[WORD : 2 * WORD])
            moved = Moved(received=RawAmount(received), sent=RawAmount(sent))
            return moved, data[2 * WORD :]
    return None


def _words(reply: Reply) -> Sequence[int]:
    """Return the words of a state. Empty: there are others, or none."""
    if not isinstance(reply, bytes) or len(reply) != _STATE_WORDS * WORD:
        return ()
    return words_of(reply)
