"""Balancer V2: pools of two and more tokens, which lie in one vault.

No getter lists the pools of two tokens, so only the index knows them. Wallets call the vault, which
pulls the payment by their allowance and books what was ordered. Source:
balancer/balancer-v2-monorepo IVault, IBasePool; probes/VaultReader.sol.
"""

from collections.abc import Sequence

import msgspec

from analysis import probes
from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.trade_route import FOREVER_S, Moved, Swap, TradeRoute
from analysis.market.venues.venue import Venue
from analysis.reads.chain_reads import AnswerAddress, call_of
from analysis.reads.eth_reads import WORD, Reply
from analysis.reads.read_batch import ReadBatch
from analysis.simulation.simulate_v1 import SimLog
from core.abi import call_data, topic_of
from core.coin_pairs import token_pair_id
from core.primitives import Address, Hash32, RawAmount, low_address

_GAS = RawAmount(500_000)
"""The vault asks the pool, and some pools ask a rate provider for each token."""
_SWAP = (
    "swap((bytes32,uint8,address,address,uint256,bytes),(address,bool,address,bool),"
    "uint256,uint256)"
)
_GIVEN_IN = 0
_SWAPPED = topic_of("Swap(bytes32,address,address,uint256,uint256)")
_SWAP_TOPICS = 4
_READER = low_address(int(topic_of("VaultReader"), 16))
"""Where the probe stands: the same in every analysis, so that a recorded one can be replayed."""
_STATE_WORDS = 6
_WHOLE_FEE = 10**18
_ADDRESS_CHARS = 42


class VaultReads:
    """The read of one pool's balances of two tokens, and of its id."""

    def __init__(
        self, batch: ReadBatch, pair: Candidate | Lookup, pool: Address | AnswerAddress
    ) -> None:
        """`pool` is the vault; the id of the pair begins with the pool's address. There are no
        look-ups."""
        pool_id = pair.pool_id if isinstance(pair, Candidate) else None
        if pool_id is None:
            message = "pools of a vault are known by their ids only"
            raise TypeError(message)
        read = call_of(
            _READER,
            "read(address,address,address,address)",
            *(pool, pool_id[:_ADDRESS_CHARS], pair.token, pair.quote),
        )
        read = msgspec.structs.replace(read, code=probes.runtime("VaultReader"))
        self._batch = batch
        self._words = batch.add(read, returns=_words)

    def read(self, candidate: Candidate) -> PoolState | None:
        """Decode the state of the pool. None: the vault knows no such pool, or the node refused the
        call. Raises UpstreamError."""
        words = self._batch.get(self._words)
        if not words:
            return None
        vault_id, token, quote, offered, given, fee = words
        if not vault_id or _pair_id(candidate, vault_id) != candidate.pool_id:
            return None
        is_priced = offered > 0 and given > 0 and fee < _WHOLE_FEE
        return PoolState(
            token_reserve_raw=RawAmount(token),
            quote_reserve_raw=RawAmount(quote),
            in_range_liquidity=None,
            price=given / offered / (1 - fee / _WHOLE_FEE) if is_priced else None,
            vault_id=Hash32(f"0x{vault_id:064x}"),
        )


def _words(reply: Reply) -> Sequence[int]:
    """Return the words of a state. Empty: there are others, or none."""
    if not isinstance(reply, bytes) or len(reply) != _STATE_WORDS * WORD:
        return ()
    return [int.from_bytes(reply[at : at + WORD]) for at in range(0, len(reply), WORD)]


def _pair_id(candidate: Candidate, vault_id: int) -> str:
    sides = (bytes.fromhex(token[2:]) for token in (candidate.token, candidate.quote))
    return "0x" + token_pair_id(vault_id.to_bytes(WORD), *sides).hex()


def _route(
    candidate: Candidate, router: Address, *, wrapped: Address | None, permit2: Address | None
) -> TradeRoute | str:
    if permit2 is not None:
        return f"the vault of {candidate.dex.name} pulls tokens itself, without Permit2"
    if candidate.vault_id is None:
        return "the pool's id in its vault is not known"
    return TradeRoute(
        router=candidate.pool,
        swap_data=_swap_data,
        read_moved=_read_moved,
        takes_all=True,
        books_orders=True,
        gas=_GAS,
    )


def _swap_data(swap: Swap) -> str:
    vault_id = bytes.fromhex((swap.candidate.vault_id or "0x")[2:])
    order = (vault_id, _GIVEN_IN, swap.token_in, swap.token_out, swap.amount_in, b"")
    funds = (swap.trader, False, swap.to, False)
    return call_data(_SWAP, order, funds, 0, FOREVER_S)


def _read_moved(
    candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool
) -> Moved | None:
    """Return the amounts of the pool's last swap in this direction. None: there was none."""
    is_sale = token_in_is_0 == candidate.token_is_0
    sides = (candidate.token, candidate.quote) if is_sale else (candidate.quote, candidate.token)
    wanted = (_SWAPPED, candidate.vault_id, *("0x" + side[2:].rjust(64, "0") for side in sides))
    for log in reversed(logs):
        if log.address != candidate.pool or len(log.topics) != _SWAP_TOPICS:
            continue
        data = bytes.fromhex(log.data[2:])
        if tuple(log.topics) == wanted and len(data) == 2 * WORD:
            received, sent = int.from_bytes(data[:WORD]), int.from_bytes(data[WORD:])
            return Moved(received=RawAmount(received), sent=RawAmount(sent))
    return None


VENUE = Venue(kind="BalancerV2", ask_pool=VaultReads, route=_route)
