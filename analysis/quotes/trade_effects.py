"""Effects of a simulated call on its sender: changes of balances and allowances. Pure.

Amounts come from balance reads; events only name the contracts to read.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from analysis.scenarios.trade.called_trade import AllowanceKey, CalledTrade, WatchedReads
from analysis.simulation.simulate_v1 import SimLog, SimulationResult
from core.evm.abi import address_word, topic_of
from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount, low_address

_TRANSFER: Final = topic_of("Transfer(address,address,uint256)")
_APPROVAL: Final = topic_of("Approval(address,address,uint256)")
_APPROVAL_FOR_ALL: Final = topic_of("ApprovalForAll(address,address,bool)")
_PERMIT2_TOPICS: Final = frozenset(
    {
        topic_of("Approval(address,address,address,uint160,uint48)"),
        topic_of("Permit(address,address,address,uint160,uint48,uint48)"),
    }
)
_ERC20_TOPICS: Final = 3
"""Topics of ERC-20's Transfer and Approval; those of a collection's items have four."""

MOST_CONTRACTS: Final = 16
MOST_ALLOWANCES: Final = 16
"""Most contracts and allowances that are read in addition to those of every check."""


class SenderChange(msgspec.Struct, frozen=True, kw_only=True):
    """A balance of the sender that the call changed."""

    token: Address
    """The zero address is the native coin, without the spent gas."""
    before_raw: RawAmount
    after_raw: RawAmount

    @property
    def change_raw(self) -> int:
        """Amount that arrived; negative if it left."""
        return self.after_raw - self.before_raw


class AllowanceChange(msgspec.Struct, frozen=True, kw_only=True):
    """An allowance of the sender that the call changed, or that stands open after it."""

    key: AllowanceKey
    before_raw: int
    after_raw: int


def gas_of(written: CalledTrade, result: SimulationResult) -> int | None:
    """Return the gas that approvals and call took. None: not reported."""
    spent = [result[each].gas_used for each in (*written.approvals, written.called)]
    known = [gas for gas in spent if gas is not None]
    return sum(known) if len(known) == len(spent) else None


def read_balances(written: CalledTrade, result: SimulationResult) -> tuple[SenderChange, ...]:
    """Return the balances that changed, that of the native coin first.

    Unanswered ones are left out, as is the coin where the gas that it paid for is not known.
    """
    spent = gas_of(written, result)
    pairs = [(ZERO_ADDRESS, written.before.coins, written.after.coins)]
    pairs += zip(
        written.watched.contracts, written.before.balances, written.after.balances, strict=True
    )
    changes = []
    for token, first, last in pairs:
        before, after = result.word(first), result.word(last)
        if before is None or after is None:
            continue
        if token == ZERO_ADDRESS:
            if spent is None:
                continue
            after += spent * written.gas_price_wei
        if before != after:
            changes.append(
                SenderChange(token=token, before_raw=RawAmount(before), after_raw=RawAmount(after))
            )
    return tuple(changes)


def read_allowances(written: CalledTrade, result: SimulationResult) -> tuple[AllowanceChange, ...]:
    """Return the allowances that changed or are open after the call."""
    found = []
    for key, first, last in zip(
        written.watched.allowances,
        written.before.allowances,
        written.after.allowances,
        strict=True,
    ):
        before, after = result.word(first), result.word(last)
        if after is not None and (after or before != after):
            found.append(AllowanceChange(key=key, before_raw=before or 0, after_raw=after))
    return tuple(found)


def also_named(
    watched: WatchedReads, logs: Sequence[SimLog], sender: Address, *, permit2: Address | None
) -> tuple[WatchedReads, bool]:
    """Return the watched reads with those that events name; False if some were left out.

    `permit2`: the chain's; None: it has none.
    """
    contracts, allowances = dict.fromkeys(watched.contracts), dict.fromkeys(watched.allowances)
    for log in logs:
        if address_word(sender) in log.topics[1:] and log.address != permit2:
            contracts.setdefault(log.address)
    for key in _allowances_in(logs, sender, permit2):
        allowances.setdefault(key)
    most = (
        len(watched.contracts) + MOST_CONTRACTS,
        len(watched.allowances) + MOST_ALLOWANCES,
    )
    is_all = len(contracts) <= most[0] and len(allowances) <= most[1]
    kept = WatchedReads(
        contracts=tuple(contracts)[: most[0]], allowances=tuple(allowances)[: most[1]]
    )
    return kept, is_all


def logged_change(logs: Sequence[SimLog], token: Address, owner: Address) -> int:
    """Return the change of a balance by the token's own events."""
    change, padded = 0, address_word(owner)
    for log in logs:
        if log.address != token or len(log.topics) != _ERC20_TOPICS or log.topics[0] != _TRANSFER:
            continue
        amount = int(log.data[2:66] or "0", 16)
        change += amount * ((log.topics[2] == padded) - (log.topics[1] == padded))
    return change


def _allowances_in(
    logs: Sequence[SimLog], sender: Address, permit2: Address | None
) -> Iterator[AllowanceKey]:
    for log in logs:
        owner, *rest = (low_address(int(topic, 16)) for topic in (*log.topics[1:], "0x0"))
        if owner != sender or not log.topics:
            continue
        if log.topics[0] == _APPROVAL and len(log.topics) == _ERC20_TOPICS:
            yield AllowanceKey(token=log.address, spender=rest[0])
        elif log.topics[0] == _APPROVAL_FOR_ALL and len(log.topics) == _ERC20_TOPICS:
            yield AllowanceKey(token=log.address, spender=rest[0], is_for_all=True)
        elif log.address == permit2 and log.topics[0] in _PERMIT2_TOPICS and len(rest) > 2:  # noqa: PLR2004 - token, spender, and the word added above
            yield AllowanceKey(token=rest[0], spender=rest[1], permit2=permit2)
