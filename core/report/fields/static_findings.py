"""Fields that the static analysis of a code answers, by one detector each, in the native order.

Definitions: the specification, "Static analysis". None: not known. `pending`: not analysed yet.
"""

from functools import partial
from typing import Annotated

import msgspec

from core.evm.primitives import Selector
from core.report.fields.field import NOT_FOLLOWED, Check, Field, Pending

_field = partial(Field, section="static", source="specification, Static analysis")

_NOT_IN_FORCE = f"the values in storage do not answer it, or {NOT_FOLLOWED}"


class StaticFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Findings of the static analysis."""

    mint_or_burn_function: Annotated[
        bool | None,
        _field(
            meaning="A public function changes total supply.",
            true_when="a reachable function stores to what totalSupply() is computed from",
            not_when=(
                "the supply is set in the constructor only",
                "tokens are sent to a dead address",
                "an initializer that runs once and asks for no owner",
            ),
            check=Check(severity="warning"),
            compat=("is_mintable",),
            goplus=("is_mintable",),
        ),
    ] = None
    can_selfdestruct: Annotated[
        bool | None,
        _field(
            meaning="The code contains a selfdestruct, which no longer deletes code on the chains.",
            true_when="a SELFDESTRUCT can be reached",
            not_when=("bytes of data or metadata equal the instruction",),
            check=Check(severity="info"),
            compat=("selfdestruct",),
            goplus=("selfdestruct",),
        ),
    ] = None
    transfer_guarded_by_storage: Annotated[
        bool | None,
        _field(
            meaning="Whether `transfer` reverts depends on storage, so it can be blocked.",
            true_when="a guard on the way depends on storage other than the funds to be moved",
            not_when=(
                "only arithmetic and balance checks",
                "a condition that only chooses the tax",
            ),
            check=Check(severity="info"),
        ),
    ] = None
    transfer_from_guarded_by_storage: Annotated[
        bool | None,
        _field(
            meaning="Whether `transferFrom` reverts depends on storage, so it can be blocked.",
            true_when="a guard on the way depends on storage other than the funds to be moved",
            not_when=(
                "only arithmetic and balance checks",
                "a condition that only chooses the tax",
            ),
            check=Check(severity="info"),
        ),
    ] = None
    trading_cooldown: Annotated[
        bool | None,
        _field(
            meaning="An address must wait after its last transfer before it transfers again.",
            true_when="a guard compares the clock with a per-address value that transfers write",
            not_when=("one global launch time", "a vesting deadline set by an admin"),
            check=Check(severity="warning"),
            compat=("trading_cooldown",),
            goplus=("trading_cooldown",),
        ),
    ] = None
    view_function_modifies_state: Annotated[
        bool | None,
        _field(
            meaning="A function with the signature of a read-only token function writes storage.",
            true_when="a getter of the token standard, or of the owner, can reach a store",
            not_when=("view code that only reads",),
            check=Check(severity="danger"),
        ),
    ] = None
    has_trading_cap: Annotated[
        bool | None,
        _field(
            meaning="A single transfer cannot exceed a constant or stored value.",
            true_when="the code has such a cap, and what it stores now puts the cap in force",
            not_when=("a cap that is switched off", "a stored cap of the supply or more"),
            null=_NOT_IN_FORCE,
            compat=("is_anti_whale",),
        ),
    ] = None
    has_trading_cap_functionality: Annotated[
        bool | None,
        _field(
            meaning="The code can cap a single transfer, even if the cap is disabled.",
            true_when="a guard fails when the amount exceeds a constant or stored value",
            not_when=("a balance check", "a cap on positions"),
            goplus=("is_anti_whale",),
        ),
    ] = None
    trading_cap_can_be_modified: Annotated[
        bool | Pending | None,
        _field(
            meaning="The cap on a transfer is in storage, and a function can update it.",
            true_when="a function stores to the cap or to its switch",
            not_when=("a constant cap with no switch",),
            check=Check(severity="warning"),
            compat=("anti_whale_modifiable",),
            goplus=("anti_whale_modifiable",),
            is_owner_gated=True,
        ),
    ] = None
    has_position_cap: Annotated[
        bool | None,
        _field(
            meaning="An address cannot hold more than a constant or stored value.",
            true_when="the code has such a cap, and what it stores now puts the cap in force",
            not_when=("a cap that is switched off", "a stored cap of the supply or more"),
            null=_NOT_IN_FORCE,
            compat=("is_anti_whale",),
        ),
    ] = None
    has_position_cap_functionality: Annotated[
        bool | None,
        _field(
            meaning="The code can cap what an address holds, even if the cap is disabled.",
            true_when="a guard fails when the recipient's balance exceeds such a value",
            not_when=("a cap on amounts",),
            goplus=("is_anti_whale",),
        ),
    ] = None
    position_cap_can_be_modified: Annotated[
        bool | Pending | None,
        _field(
            meaning="The cap on a holding is in storage, and a function can update it.",
            true_when="a function stores to the cap or to its switch",
            not_when=("a constant cap with no switch",),
            check=Check(severity="warning"),
            compat=("anti_whale_modifiable",),
            goplus=("anti_whale_modifiable",),
            is_owner_gated=True,
        ),
    ] = None
    has_owner_functionality: Annotated[
        bool | None,
        _field(
            meaning="The code gives some addresses access that others lack, renounced or not.",
            true_when="a check of the caller, or of its hash, decides whether a function goes on",
            not_when=(
                "balances and allowances keyed by the caller",
                "a fee exemption that gates nothing",
            ),
            check=Check(severity="info"),
        ),
    ] = None
    has_pause_functionality: Annotated[
        bool | None,
        _field(
            meaning="The code can pause trading.",
            true_when="a guard of transfers depends on a variable that is the same for everybody",
            not_when=("per-address lists", "a cap"),
            check=Check(severity="info"),
            goplus=("transfer_pausable",),
        ),
    ] = None
    pause_status_can_be_modified: Annotated[
        bool | Pending | None,
        _field(
            meaning="The pause status can change in future.",
            true_when="a function stores to a variable that a pause depends on",
            not_when=("it is written in the constructor only",),
            check=Check(severity="warning"),
            compat=("transfer_pausable",),
            is_owner_gated=True,
        ),
    ] = None
    has_blacklist_or_whitelist: Annotated[
        bool | None,
        _field(
            meaning="Addresses can be restricted from trading.",
            true_when="a guard, or all of the amount, depends on what is stored per address",
            not_when=("a mapping that only switches a fee, a cap or a cooldown off",),
            check=Check(severity="warning", key="access_restrictions"),
            # Bytecode does not distinguish a blacklist from a whitelist.
            compat=("is_blacklisted", "is_whitelisted"),
            goplus=("is_blacklisted", "is_whitelisted"),
        ),
    ] = None
    external_call: Annotated[
        bool | None,
        _field(
            meaning="The code calls a target that is not statically known, or uses returned data.",
            true_when="a call goes to a target that is not a literal, or its answer is used",
            not_when=("precompiles", "a literal target whose answer is ignored"),
            check=Check(severity="info"),
            compat=("external_call",),
            goplus=("external_call",),
        ),
    ] = None
    timebomb: Annotated[
        bool | Pending | None,
        _field(
            meaning="The code compares a value with the clock; read with `timebomb_status`.",
            true_when="the block number or time is compared with a constant or a stored value",
            not_when=(
                "a comparison with an argument of the caller only",
                "passing the time on or storing it",
            ),
            check=Check(severity="warning"),
        ),
    ] = "pending"
    has_tax_functionality: Annotated[
        bool | None,
        _field(
            meaning="The code has tax logic, even if the current tax is 0.",
            true_when="the recipient is credited something else than the sender is debited",
            not_when=("functions that burn on request",),
            check=Check(severity="info"),
        ),
    ] = None
    tax_can_be_modified: Annotated[
        bool | None,
        _field(
            meaning="The tax can be updated, possibly by others than the owner.",
            true_when="a function stores to a rate of the tax, or a hook can raise a pool's fee",
            not_when=("lists of addresses without fee",),
            check=Check(severity="warning"),
            compat=("slippage_modifiable",),
            goplus=("slippage_modifiable",),
        ),
    ] = None
    is_proxy: Annotated[
        bool | None,
        _field(
            meaning="The contract is a proxy.",
            true_when="the fallback delegates the caller's own calldata",
            not_when=("libraries called inside an ordinary token",),
            check=Check(severity="warning"),
            compat=("is_proxy",),
            goplus=("is_proxy",),
        ),
    ] = None
    balance_update_function: Annotated[
        tuple[Selector, ...] | None,
        _field(
            meaning="Selectors of the functions that write balance storage.",
            true_when="a function stores to the mapping behind balanceOf",
            not_when=("another mapping of the same shape",),
        ),
    ] = None
    allowance_update_function: Annotated[
        tuple[Selector, ...] | None,
        _field(
            meaning="Selectors of the functions that write allowance storage.",
            true_when="a function stores to the mapping behind allowance",
            not_when=("another mapping of the same shape",),
        ),
    ] = None
