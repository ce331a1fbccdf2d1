"""Conditions of a trade's environment: gas, fees, the block's fields, the signer."""

import random
from collections.abc import Callable

from tests.harness.redteam.trap_model import Condition, EntryPoint, Moment

Maker = Callable[[random.Random], Condition]

_SALES: tuple[EntryPoint, ...] = ("sell", "transfer", "transferFrom")
_ALL: tuple[EntryPoint, ...] = (*_SALES, "approve", "buy", "hook", "proxy")
_SEEN = ("untested_conditions",)
_MARKED: tuple[Moment, ...] = ("now", "at_buy", "at_approval")


# --- gas and fees ----------------------------------------------------------------------------


def little_gas(dice: random.Random) -> Condition:
    """Less gas than an examiner gives."""
    limit = dice.choice([600_000, 1_500_000, 5_000_000])
    return Condition(
        key="gas_left",
        axis="gas",
        lhs="gasleft()",
        op="<",
        rhs=str(limit),
        entry_points=(*_SALES, "buy", "hook"),
        moments=_MARKED,
        cause=_SEEN,
    )


def gas_price(dice: random.Random) -> Condition:
    """A gas price as people pay it."""
    return Condition(
        key="fee_gas_price",
        axis="fees",
        lhs="tx.gasprice",
        op=">",
        rhs=f"{dice.choice([1, 2, 3])} gwei",
        entry_points=_ALL,
        moments=_MARKED,
        cause=_SEEN,
    )


def base_fee(dice: random.Random) -> Condition:
    """A base fee as a busy chain has it."""
    limit = dice.choice(["0", "1 gwei", "3 gwei"])
    return Condition(
        key="fee_base",
        axis="fees",
        lhs="block.basefee",
        op=">",
        rhs=limit,
        entry_points=_ALL,
        moments=_MARKED,
        cause=_SEEN,
    )


def tip(dice: random.Random) -> Condition:
    """A tip as wallets offer it."""
    return Condition(
        key="fee_tip",
        axis="fees",
        lhs="tx.gasprice < block.basefee ? 0 : tx.gasprice - block.basefee",
        op=">",
        rhs=dice.choice(["0.05 gwei", "0.09 gwei", "0"]),
        entry_points=_ALL,
        moments=_MARKED,
        cause=_SEEN,
    )


# --- fields of the block ---------------------------------------------------------------------


def has_proposer(_: random.Random) -> Condition:
    """The block has a proposer."""
    return Condition(
        key="field_proposer",
        axis="field",
        lhs="uint160(address(block.coinbase))",
        op="!=",
        rhs="0",
        entry_points=_ALL,
        moments=_MARKED,
        cause=_SEEN,
    )


def proposer_luck(dice: random.Random) -> Condition:
    """Three of four proposers, or seven of eight."""
    return Condition(
        key="field_proposer_luck",
        axis="field",
        lhs=f"uint160(address(block.coinbase)) % {dice.choice([4, 8])}",
        op="!=",
        rhs=str(dice.randrange(4)),
        entry_points=_ALL,
        moments=_MARKED,
        cause=_SEEN,
    )


def random_luck(dice: random.Random) -> Condition:
    """The beacon's dice."""
    return Condition(
        key="field_randao",
        axis="field",
        lhs=f"block.prevrandao % {dice.choice([3, 5])}",
        op="!=",
        rhs=str(dice.randrange(3)),
        entry_points=_ALL,
        moments=_MARKED,
        cause=_SEEN,
    )


def gas_limit(dice: random.Random) -> Condition:
    """The chain's limit, not a simulator's."""
    return Condition(
        key="field_gas_limit",
        axis="field",
        lhs="block.gaslimit",
        op="<",
        rhs=str(dice.choice([80_000_000, 120_000_000])),
        entry_points=_ALL,
        moments=_MARKED,
        cause=_SEEN,
    )


def block_hash(dice: random.Random) -> Condition:
    """The blocks before are known, as they are on a chain."""
    back = dice.choice([1, 2])
    return Condition(
        key="field_block_hash",
        axis="field",
        lhs=f"uint256(blockhash(block.number - {back}))",
        op="!=",
        rhs="0",
        entry_points=_ALL,
        moments=_MARKED,
        cause=_SEEN,
    )


def hash_luck(dice: random.Random) -> Condition:
    """Last bits of the previous block's hash."""
    return Condition(
        key="field_hash_luck",
        axis="field",
        lhs=f"uint256(blockhash(block.number - 1)) % {dice.choice([3, 6])}",
        op="!=",
        rhs=str(dice.randrange(3)),
        entry_points=_ALL,
        moments=_MARKED,
        cause=_SEEN,
    )


# --- who signs -------------------------------------------------------------------------------


def poor_signer(dice: random.Random) -> Condition:
    """The signer has no more than people have."""
    return Condition(
        key="signer_coins",
        axis="signer",
        lhs="tx.origin.balance",
        op="<",
        rhs=dice.choice(["3.5 ether", "9 ether", "90 ether"]),
        entry_points=_ALL,
        moments=_MARKED,
        cause=_SEEN,
    )


def poor_seller(dice: random.Random) -> Condition:
    """Coins of the trader, or of the payee."""
    return Condition(
        key="signer_purse",
        axis="signer",
        lhs="who.balance",
        op="<",
        rhs=dice.choice(["4 ether", "40 ether"]),
        entry_points=(*_SALES, "approve", "buy", "hook"),
        moments=("now", "at_buy"),
        cause=_SEEN,
    )


def code_less(_: random.Random) -> Condition:
    """The trader is a person's account."""
    return Condition(
        key="signer_code_size",
        axis="signer",
        lhs="who.code.length",
        op="==",
        rhs="0",
        entry_points=("sell", "transfer", "approve"),
        moments=("now", "at_buy"),
        cause=_SEEN,
    )


def code_hash(_: random.Random) -> Condition:
    """The account exists: it has a past or coins, and no code."""
    return Condition(
        key="signer_code_hash",
        axis="signer",
        lhs="uint256(who.codehash)",
        op="==",
        rhs="uint256(keccak256(bytes('')))",
        entry_points=("sell", "transfer", "approve", "hook"),
        moments=("now", "at_buy"),
        cause=_SEEN,
    )


def signer_is_trader(_: random.Random) -> Condition:
    """The trader signed by himself."""
    return Condition(
        key="signer_is_trader",
        axis="signer",
        lhs="uint160(tx.origin)",
        op="==",
        rhs="uint160(who)",
        entry_points=("sell", "transfer", "approve"),
        moments=("now", "at_buy"),
        cause=_SEEN,
    )


def luck_of_address(dice: random.Random) -> Condition:
    """Most addresses."""
    part = dice.choice([4, 16])
    return Condition(
        key="signer_address_luck",
        axis="signer",
        lhs=f"uint160(who) % {part}",
        op="!=",
        rhs=str(dice.randrange(part)),
        entry_points=(*_SALES, "approve", "buy", "hook"),
        cause=(*_SEEN, "access_restrictions"),
    )


ENVIRONMENT: tuple[Maker, ...] = (
    little_gas,
    gas_price,
    base_fee,
    tip,
    has_proposer,
    proposer_luck,
    random_luck,
    gas_limit,
    block_hash,
    hash_luck,
    poor_signer,
    poor_seller,
    code_less,
    code_hash,
    signer_is_trader,
    luck_of_address,
)
