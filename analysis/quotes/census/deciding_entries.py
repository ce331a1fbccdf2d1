"""Entries of lists that decide on sales: candidates, and the proof by simulation.

Candidates are mappings that the code is seen to read on a transfer (static analysis), and slots
that an access list of a sale names and that hang on its seller, in the token or in another
contract. An entry decides if the sale fails without a change, and passes once the entry has the
value of a seller that is not held back.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from analysis.reads.bulk_words import MOST_SLOTS, WordsRead, fetch_bulk
from analysis.reads.eth_reads import decode_answer, words_of
from analysis.reads.node import Node
from analysis.scenarios.trade.transfer import Wallet
from analysis.simulation.balance_slot import plain_mapping
from analysis.static.token_model.caps.cap_rules import constant
from analysis.static.token_model.conditions.trade_conditions import TradeConditions
from core.evm.abi import call_data
from core.evm.keccak import keccak
from core.evm.primitives import Address, Hash32, to_hash32
from core.rpc.messages import RpcRequest

MOST_LISTS: Final = 6
_MOST_LISTED: Final = 4
"""Sellers that are held back whose access lists are requested."""

_PLAIN_SLOTS: Final = 256
"""Declared slots that are tried as the place of a mapping."""

_MOST_KEYS: Final = 64
"""Slots of one contract in an access list that are examined."""

_GAS: Final = 1_000_000


class ListVariable(msgspec.Struct, frozen=True, kw_only=True):
    """A mapping from accounts to one word each, or its first word."""

    contract: Address
    slot: Hash32
    """Its declared slot."""
    key_first: bool = True
    """True: the key is hashed before the slot, as Solidity does; False: after it, as Vyper."""

    def entry(self, account: Address) -> Hash32:
        """Return the slot of an account's entry."""
        key, place = bytes.fromhex(account[2:]).rjust(32, b"\0"), bytes.fromhex(self.slot[2:])
        data = key + place if self.key_first else place + key
        return Hash32("0x" + keccak(data).hex())


class ListEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An account's entry of a list, and the value under which its sale passes."""

    variable: ListVariable
    word: int
    """Its value on the block."""
    passing_word: int
    """Its value in the simulation of a sale that passes."""


class _Touched(msgspec.Struct, frozen=True, rename="camel"):
    address: str
    storage_keys: tuple[str, ...] = ()


class _AccessList(msgspec.Struct, frozen=True, rename="camel"):
    access_list: tuple[_Touched, ...]


def lists_in_code(token: Address, conditions: TradeConditions) -> tuple[ListVariable, ...]:
    """Return the mappings that transfers are seen to decide by."""
    slots: dict[Hash32, None] = {}
    for owned in conditions.owned:
        if owned.is_listed and owned.slot is not None:
            slots[owned.slot] = None
    for condition in conditions.conditions:
        for step in condition.steps:
            if step.operation == "mark":
                declared = constant(condition.steps, step.arguments[0], {})
                if declared is not None:
                    slots[to_hash32(declared)] = None
    return tuple(
        ListVariable(contract=token, slot=slot, key_first=key_first)
        for slot in slots
        for key_first in (True, False)
    )


async def lists_in_sales(
    node: Node,
    token: Address,
    *,
    held_back: Sequence[Wallet],
    free: Wallet | None,
    pool: Address,
    known: Collection[ListVariable],
    block: Hash32,
) -> tuple[ListVariable, ...]:
    """Return the mappings whose entries the transfer of a sale reads, by access lists.

    `free`: a seller that is not held back, if there is one. Takes one request. Empty: the node
    lists nothing. Raises UpstreamError.
    """
    wallets = [*([] if free is None else [free]), *held_back[:_MOST_LISTED]]
    answers = await node.batch([_listing(each, token, pool, block) for each in wallets])
    found: dict[ListVariable, None] = {}
    for wallet, answer in zip(wallets, answers, strict=True):
        listed = decode_answer(answer, _AccessList)
        if listed is None:
            continue
        places = _places(wallet.address, known)
        for touched in listed.access_list:
            for key in touched.storage_keys[:_MOST_KEYS]:
                place = places.get(key.lower())
                if place is not None:
                    contract = Address(touched.address.lower())
                    found[msgspec.structs.replace(place, contract=contract)] = None
    return tuple(found)


async def read_entries(
    node: Node,
    variables: Sequence[ListVariable],
    accounts: Sequence[Address],
    *,
    block: Hash32,
) -> dict[tuple[ListVariable, Address], int]:
    """Return the entries of accounts; those that the node did not answer are left out. Raises
    UpstreamError."""
    contracts = list(dict.fromkeys(each.contract for each in variables))
    places = {
        contract: [
            (variable, account)
            for variable in variables
            if variable.contract == contract
            for account in accounts
        ]
        for contract in contracts
    }
    reads, order = [], []
    for contract, entries in places.items():
        for part in _parts(entries):
            slots = b"".join(bytes.fromhex(one.entry(account)[2:]) for one, account in part)
            reads.append(WordsRead(contract=contract, slots=slots))
            order.append(part)
    words: dict[tuple[ListVariable, Address], int] = {}
    for part, data in zip(order, await fetch_bulk(node, reads, block=block), strict=True):
        if data is not None:
            words.update(zip(part, words_of(data), strict=True))
    return words


def balances_of(token: Address, slot_index: int | None) -> ListVariable | None:
    """Return the mapping of the token's balances. None: not known."""
    mapping = None if slot_index is None else plain_mapping(slot_index)
    if mapping is None:
        return None
    declared, key_first = mapping
    return ListVariable(contract=token, slot=to_hash32(declared), key_first=key_first)


def differing(
    variables: Sequence[ListVariable],
    words: Mapping[tuple[ListVariable, Address], int],
    held_back: Sequence[Address],
    free: Sequence[Address],
) -> dict[ListVariable, dict[Address, ListEntry]]:
    """Return the entries of sellers that are held back, by list, where nobody else has their value.

    The value to try is the one that most free sellers have; with no free seller, zero.
    """
    found: dict[ListVariable, dict[Address, ListEntry]] = {}
    for variable in variables:
        usual = [word for each in free if (word := words.get((variable, each))) is not None]
        passing = max(set(usual), key=usual.count) if usual else 0
        entries = {
            each: ListEntry(variable=variable, word=word, passing_word=passing)
            for each in held_back
            if (word := words.get((variable, each))) is not None and word not in {*usual, passing}
        }
        if entries:
            found[variable] = entries
    ranked = sorted(found.items(), key=lambda item: -len(item[1]))
    return dict(ranked[:MOST_LISTS])


def overridden(
    lists: Sequence[Mapping[Address, ListEntry]],
) -> dict[Address, dict[Hash32, Hash32]]:
    """Return the slots that give the entries their passing values, by contract."""
    slots: dict[Address, dict[Hash32, Hash32]] = {}
    for entries in lists:
        for account, entry in entries.items():
            place = entry.variable.entry(account)
            slots.setdefault(entry.variable.contract, {})[place] = to_hash32(entry.passing_word)
    return slots


def _listing(wallet: Wallet, token: Address, pool: Address, block: Hash32) -> RpcRequest:
    data = call_data("transfer(address,uint256)", pool, wallet.amount_raw)
    call = {"from": wallet.address, "to": token, "data": data, "gas": hex(_GAS)}
    return RpcRequest("eth_createAccessList", (call, {"blockHash": block}))


def _places(account: Address, known: Collection[ListVariable]) -> dict[str, ListVariable]:
    """Return the mappings that an account's entries may belong to, by the entry's slot."""
    places = {
        str(variable.entry(account)): variable
        for number in range(_PLAIN_SLOTS)
        for key_first in (True, False)
        for variable in (
            ListVariable(contract=account, slot=to_hash32(number), key_first=key_first),
        )
    }
    return places | {str(variable.entry(account)): variable for variable in known}


def _parts(
    entries: Sequence[tuple[ListVariable, Address]],
) -> Iterator[Sequence[tuple[ListVariable, Address]]]:
    for start in range(0, len(entries), MOST_SLOTS):
        yield entries[start : start + MOST_SLOTS]
