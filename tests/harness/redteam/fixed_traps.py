"""Fixed part of the red team: at least three traps a class, honest doubles, and known misses.

Data only. Each row is one contract, whose random parts follow from its name.
"""

import random
from collections.abc import Callable

from tests.harness.redteam import conditions_environment as env
from tests.harness.redteam import conditions_moved as moved
from tests.harness.redteam import conditions_owned as owned
from tests.harness.redteam import conditions_world as around
from tests.harness.redteam import (
    false_tokens as lies,
)
from tests.harness.redteam import (
    fee_tokens as fees,
)
from tests.harness.redteam import (
    key_conditions as keys,
)
from tests.harness.redteam import (
    thefts,
)
from tests.harness.redteam.key_conditions import Key
from tests.harness.redteam.trap_model import (
    Composition,
    Condition,
    Effect,
    EntryPoint,
    Harmless,
    Moment,
    Trap,
)
from tests.harness.redteam.trap_source import write

NOT_YET: frozenset[str] = frozenset()

LUCKY = frozenset({"FieldRandao", "FieldLuck", "FieldHashLuck", "SignerLuck"})
"""Conditions drawn for each block, which may be seen by chance."""


Make = Callable[[random.Random], Condition]
MakeKey = Callable[[random.Random], Key]


def _row(
    name: str,
    make: Make,
    entry_point: EntryPoint,
    effect: Effect | Harmless,
    moment: Moment = "now",
    surface: str = "direct",
    *,
    form: int = 0,
    percent: int = 90,
) -> Trap:
    dice = random.Random(name)  # noqa: S311 - the same row is the same contract
    harmless: dict[str, Harmless] = {
        "small_fee": "small_fee",
        "giant_only": "giant_only",
        "team_only": "team_only",
        "noted": "noted",
    }
    made = Composition(
        name=name,
        condition=make(dice),
        entry_point=entry_point,
        effect="mark" if effect in harmless else effect,  # type: ignore[arg-type]  # an Effect then
        moment=moment,
        surface=surface,
        percent=percent,
        form=form,
        harmless=harmless.get(effect),
    )
    return write(made, dice)


def _key(
    name: str,
    build: Callable[[str, bool, random.Random, MakeKey | None], Trap],
    make: MakeKey,
    *,
    honest: bool = False,
) -> Trap:
    return build(name, honest, random.Random(name), make)  # noqa: S311


def _made(name: str, build: thefts.Builder, *, honest: bool = False) -> Trap:
    return build(name, honest, random.Random(name))  # noqa: S311


VARIANTS: tuple[Trap, ...] = (
    # Lists and switches that an account with powers sets.
    _row("ListArray", owned.array_list, "sell", "revert", surface="helper", form=7),
    _row("ListFriends", owned.white_list, "transfer", "no_op", form=1),
    _row("ListHashes", owned.hashed_list, "approve", "revert", form=3),
    _row("ListTax", owned.plain_list, "transferFrom", "tax", surface="assembly", form=1),
    _row("ListHook", owned.plain_list, "hook", "tax", form=0),
    _row("ListHonest", owned.plain_list, "sell", "giant_only"),
    _row("SwitchPacked", owned.hidden_second, "sell", "tax", surface="table", form=2),
    _row("SwitchStart", owned.start_time, "sell", "zeroed", form=3),
    _row("SwitchBuys", owned.switch, "buy", "taken", surface="negated"),
    _row("SwitchProxy", owned.switch, "proxy", "tax"),
    _row("SwitchHonest", owned.switch, "transfer", "small_fee"),
    _row("GuiseAllowance", owned.allowance_list, "transferFrom", "no_op"),
    _row("GuiseReferral", owned.own_entry, "sell", "revert", form=3),
    _row("GuiseReferralTax", owned.own_entry, "transferFrom", "tax", surface="stored", form=1),
    _row("GuiseGift", owned.balance_list, "sell", "revert", form=8),
    _row("GuiseMask", owned.packed_list, "transferFrom", "revert", form=4),
    _row("GuiseGiftApproved", owned.balance_list, "approve", "no_op", surface="assembly"),
    _row("GuiseBit", owned.packed_list, "sell", "tax", surface="scaled", form=4),
    _row("GuiseBook", owned.book_list, "sell", "revert", form=4),
    _row("GuiseSlot", owned.slot_list, "transfer", "zeroed", form=1),
    _row("GuiseHonest", owned.book_list, "sell", "noted"),
    # Time and blocks.
    _row("TimeDate", around.after_date, "sell", "tax", surface="stored", form=1),
    _row("TimeSinceBuy", around.since_buy, "transferFrom", "revert", surface="difference", form=6),
    _row("TimeSinceFirst", around.since_first, "hook", "tax", form=1),
    _row("TimeOfDay", around.hour_of_day, "sell", "revert", surface="hashed", form=7),
    _row("TimeProxy", around.after_date, "proxy", "revert", surface="shifted"),
    _row("TimeApproval", around.after_date, "approve", "third_allowance"),
    _row("TimeHonest", around.since_buy, "sell", "small_fee", surface="scaled"),
    _row("BlockHeight", around.after_block, "sell", "zeroed", surface="looped", form=2),
    _row("BlockSinceBuy", around.blocks_since_buy, "hook", "revert"),
    _row("BlockApproval", around.not_with_approval, "sell", "tax", surface="table", form=0),
    _row("BlockProxy", around.after_block, "proxy", "tax", surface="assembly"),
    _row("BlockHonest", around.blocks_since_buy, "sell", "giant_only"),
    # Stored times, held against each other or turned in windows.
    _row("StoredApproval", around.approved_late, "sell", "revert"),
    _row("StoredLast", around.last_sale, "sell", "revert"),
    _row("StoredWindow", around.odd_window, "sell", "tax"),
    _row("StoredHonest", around.approved_late, "sell", "small_fee"),
    _row("StoredHonestLast", around.last_sale, "sell", "noted"),
    # Counters, amounts and balances that anybody's trades move.
    _row("CounterOwnBuys", moved.second_buy, "sell", "tax", surface="stored", form=1),
    _row("CounterOwnSales", moved.own_sales, "sell", "revert", surface="difference", form=4),
    _row("CounterAllSales", moved.all_sales, "sell", "price_ruin"),
    _row("CounterBuyers", moved.buyers, "transferFrom", "no_op", surface="helper"),
    _row("CounterAllBuys", moved.all_buys, "hook", "revert", form=1),
    _row("CounterLast", moved.last_buyer, "sell", "revert", surface="hashed", form=8),
    _row("CounterOfPool", moved.pool_count, "sell", "revert", form=2),
    _row("CounterField", moved.field_of_buys, "sell", "tax", surface="scaled", form=1),
    _row("CounterVolume", moved.volume, "buy", "tax", surface="assembly", form=1),
    _row("CounterHonest", moved.buyers, "sell", "small_fee"),
    _row("AmountLittle", moved.bought_little, "sell", "revert", surface="scaled", form=3),
    _row("AmountMuch", moved.bought_much, "transferFrom", "tax", surface="shifted", form=2),
    _row("AmountShare", moved.sold_share, "sell", "revert", surface="negated", form=10),
    _row("AmountSmall", moved.sale_small, "sell", "tax", surface="hashed", form=1),
    _row("AmountApproved", moved.approved_all, "sell", "zeroed", form=0),
    _row("AmountHonest", moved.sale_of_rest, "sell", "noted"),
    _row("BandSold", moved.sale_band, "sell", "tax", form=1),
    _row("BandBought", moved.bought_band, "sell", "revert"),
    _row("BandHonest", moved.sale_band, "sell", "small_fee"),
    _row("BalanceCoins", moved.price_up, "sell", "revert", surface="stored", form=5),
    _row("BalanceReserves", moved.reserves, "sell", "tax", surface="difference", form=1),
    _row("BalancePool", moved.pool_tokens, "transferFrom", "zeroed", surface="table", form=3),
    _row("BalancePurse", moved.own_purse, "sell", "revert", form=7),
    _row("BalanceSeller", moved.holds_much, "approve", "no_op"),
    _row("BalanceRuined", moved.price_up, "sell", "price_ruin"),
    _row("BalanceHonest", moved.own_purse, "sell", "giant_only"),
    # The environment.
    _row("GasAtBuy", env.little_gas, "sell", "revert", "at_buy", form=1),
    _row("GasAtApproval", env.little_gas, "sell", "tax", "at_approval", form=3),
    _row("GasBuys", env.little_gas, "buy", "tax", surface="assembly", form=1),
    _row("GasTaxed", env.little_gas, "sell", "tax", surface="stored", form=1),
    _row("HookLifted", around.after_block, "hook", "tax", surface="stored"),
    _row("GasNothing", env.little_gas, "buy", "zeroed", surface="difference"),
    _row("GasHidden", env.little_gas, "sell", "no_op", "at_approval", form=1),
    _row("GasHonest", env.little_gas, "sell", "small_fee", "at_buy"),
    _row("FeePrice", env.gas_price, "sell", "revert", "at_approval", "scaled", form=4),
    _row("FeeBase", env.base_fee, "sell", "tax", "at_buy", "hashed", form=2),
    _row("FeeTip", env.tip, "transferFrom", "revert", surface="difference", form=9),
    _row("FeeProxy", env.base_fee, "proxy", "revert", surface="shifted"),
    _row("FeeHonest", env.gas_price, "transfer", "giant_only"),
    _row("FieldProposer", env.has_proposer, "sell", "revert", "at_buy", form=0),
    _row("FieldLuck", env.proposer_luck, "sell", "tax", "at_approval", "assembly", form=2),
    _row("FieldRandao", env.random_luck, "sell", "revert", surface="table", form=6),
    _row("FieldGasLimit", env.gas_limit, "hook", "tax", form=1),
    _row("FieldHash", env.block_hash, "sell", "zeroed", "at_buy", "scaled", form=1),
    _row("FieldHashLuck", env.hash_luck, "transferFrom", "tax", surface="looped", form=1),
    _row("FieldHonest", env.has_proposer, "sell", "small_fee", "at_buy"),
    _row("SignerCoins", env.poor_signer, "sell", "revert", "at_buy", "stored", form=1),
    _row("SignerPurse", env.poor_seller, "sell", "tax", surface="shifted", form=1),
    _row("SignerHash", env.code_hash, "sell", "revert", surface="hashed", form=7),
    _row("SignerSize", env.code_less, "transfer", "tax", surface="helper", form=2),
    _row("SignerSelf", env.signer_is_trader, "sell", "zeroed", "at_buy", form=4),
    _row("SignerLuck", env.luck_of_address, "sell", "revert", surface="assembly", form=10),
    _row("SignerHonest", env.poor_signer, "sell", "giant_only"),
    _row("ForeignWrapped", around.no_wrapped_coins, "sell", "revert", "at_buy", form=0),
    _row("ForeignSupply", around.wrapped_supply, "sell", "tax", surface="shifted", form=1),
    _row("ForeignAnswer", around.witness_says, "sell", "revert", surface="table", form=7),
    _row("ForeignClock", around.witness_clock, "sell", "tax", surface="negated", form=1),
    _row("ForeignCount", around.witness_count, "sell", "revert", form=2),
    _row("ForeignRefusal", around.witness_refuses, "sell", "revert", form=0),
    _row("ForeignHonest", around.witness_clock, "sell", "small_fee"),
    _row("UnbornGuard", around.unborn_guard, "sell", "revert"),
    _row("UnbornHonest", around.unborn_guard, "sell", "small_fee"),
    # Doors to what others hold.
    _key("PullMagic", thefts.transfer_from, keys.magic_amount),
    _key("PullTail", thefts.transfer_from, keys.tail_word),
    _key("PullOperator", thefts.transfer_from, keys.operator),
    _key("PullPrimed", thefts.transfer_from, keys.primed),
    _key("PullHonest", thefts.transfer_from, keys.magic_amount, honest=True),
    _key("BurnCode", thefts.other_function, keys.code_hash),
    _key("BurnDate", thefts.other_function, keys.date),
    _key("BurnTail", thefts.other_function, keys.secret_tail),
    _made("BatchFirst", thefts.batch),
    _made("RelaySigned", thefts.signed_pull),
    _key("BurnHonest", thefts.other_function, keys.caller_sum, honest=True),
    _key("GrantKnocks", thefts.allowance_written, keys.counted),
    _key("GrantPart", thefts.allowance_written, keys.truncated),
    _key("GrantHash", thefts.allowance_written, keys.hash_of_caller),
    _key("GrantHonest", thefts.allowance_written, keys.date, honest=True),
    _key("MintTail", thefts.minted, keys.tail_word),
    _key("MintDate", thefts.minted, keys.date),
    _key("MintPrimed", thefts.minted, keys.primed),
    _key("MintHonest", thefts.minted, keys.magic_amount, honest=True),
    _made("PermitMaster", thefts.permit),
    _made("PermitOther", thefts.permit),
    _made("PermitThird", thefts.permit),
    _made("PermitHonest", thefts.permit, honest=True),
    _key("ForwardPart", thefts.forwarded, keys.truncated),
    _key("ForwardCode", thefts.forwarded, keys.code_hash),
    _key("ForwardPrimed", thefts.forwarded, keys.primed),
    _key("ForwardHonest", thefts.forwarded, keys.hash_of_caller, honest=True),
    _row("ThirdAtSale", env.gas_price, "sell", "third_allowance", form=1),
    _row("ThirdAtBuy", env.base_fee, "buy", "third_allowance"),
    # Balances that lie, pools that hide another.
    _made("ShownLedger", lies.shadow_ledger),
    _made("ShownBonus", lies.melting_bonus),
    _made("ShownToPool", lies.pool_sees_less),
    _made("ShownHonest", lies.shadow_ledger, honest=True),
    _made("DecoyV3", lies.decoy_v3),
    _made("DecoyV4", lies.decoy_v4),
    _made("DecoySolid", lies.decoy_solid),
    _made("DecoyHonest", lies.decoy_v3, honest=True),
    # Fees that are collected and sold within a holder's sale.
    _made("FeeSoldMinted", fees.swap_back),
    _made("FeeSoldHonest", fees.swap_back, honest=True),
)
