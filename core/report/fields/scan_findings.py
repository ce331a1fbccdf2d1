"""Fields of a whole scan, beyond those of one code: of simulations, custody and conditions.

They are shown by a check of the summary; one whose `is_native` is true is a key of the native
format too, at the end of its section. None: not known.
"""

from functools import partial
from typing import Annotated

import msgspec

from core.report.fields.field import Check, Field

_field = partial(Field, section="simulation", source="decisions page, Summary", is_native=False)

_NO_SALE = (
    "no sale passes within an hour of the buy, one passes only through Permit2, or a simulation "
    "was not run"
)
_NO_LIGHT_SALE = f"{_NO_SALE}; or half or more of a sale is taken already"
_NO_TWO_SALES = f"{_NO_SALE}; or fewer than two sizes were sold in a pool"


class ScanFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Findings of one scan."""

    sell_blocked_later: Annotated[
        bool | None,
        _field(
            meaning="In some traded pool, a sale that passes today reverts within 30 days, or at a "
            "later time of the next year.",
            null=_NO_SALE,
            check=Check(severity="danger", is_reason=True),
        ),
    ] = None
    sell_tax_rises: Annotated[
        bool | None,
        _field(
            meaning="The tax on a sale is below half today, and half or more within 30 days, at a "
            "later time of the next year, or after trades.",
            null=_NO_LIGHT_SALE,
            check=Check(severity="danger", is_reason=True),
        ),
    ] = None
    sell_depends_on_size: Annotated[
        bool | None,
        _field(
            meaning="Some buyers can sell, or keep half of the proceeds, and others cannot.",
            null=_NO_TWO_SALES,
            check=Check(severity="danger", is_reason=True),
        ),
    ] = None
    sell_blocked_after_others: Annotated[
        bool | None,
        _field(
            meaning="A sale that passes today reverts after trades or calls of others, or a second "
            "buy.",
            null=_NO_SALE,
            check=Check(severity="danger", is_reason=True),
        ),
    ] = None
    sell_depends_on_conditions: Annotated[
        bool | None,
        _field(
            meaning="Under ordinary values of inputs that the code reads (fees, gas, coins, "
            "randomness), a sale reverts or loses half.",
            null=_NO_LIGHT_SALE,
            check=Check(severity="danger", is_reason=True),
        ),
    ] = None
    untested_conditions: Annotated[
        bool | None,
        _field(
            meaning="The code can revert or tax a trade on a condition that was neither simulated "
            "both ways nor proved harmless.",
            null="the code's conditions are not all known, or nothing was traded",
            check=Check(severity="warning", is_reason=True),
        ),
    ] = None
    hidden_owner_controls: Annotated[
        bool | None,
        _field(
            meaning="Somebody sets on what trades revert or are taxed, unseen in other fields.",
            check=Check(severity="warning"),
        ),
    ] = None
    unproved_custody: Annotated[
        bool | None,
        _field(
            meaning="A balance may fall or an allowance rise without proof of the holder's "
            "consent. Shown by the check `unproved_code`.",
        ),
    ] = None
    creates_balances: Annotated[
        bool | None,
        _field(
            meaning="Some function that can still run may raise the sum of balances, and "
            "totalSupply does not count it; or one that ended after the creation could. "
            "Where bounds cut the proof off, it is false if every open function was called and "
            "created nothing. Shown by the check `unproved_code`.",
        ),
    ] = None
    liquidity_risk: Annotated[
        str | None,
        _field(
            meaning="Whether half of the liquidity can leave at one holder's will, or is young and "
            "neither burnt nor locked: withdrawable, held, unknown, or unknown_old where unknown "
            "holders decide whose pools are over thirty days old.",
            null="the deployment does not look into it (`analysis.liquidity_holders`), or there is "
            "no pool",
        ),
    ] = None
    balances_can_be_created: Annotated[
        bool | None,
        _field(
            meaning="An ordinary account created balances in simulation: more tokens than others "
            "paid and than the supply counts, a material part of the supply for nothing, or for "
            "less than a sale returns.",
            null="a function was not called, or a call was not simulated",
            is_native=True,
            check=Check(severity="danger"),
        ),
    ] = None
    hidden_creation: Annotated[
        bool | None,
        _field(
            meaning="The creation gave a balance without a Transfer event, or an allowance without "
            "an Approval event. Shown by the check `disguised_code`.",
            null="the creating transaction was not found, or the node cannot repeat it",
        ),
    ] = None
    unexplained_creation: Annotated[
        bool | None,
        _field(
            meaning="The creation wrote storage words that no known key leads to, or gave more "
            "than the supply. Shown by the check `unproved_code`.",
            null="the creating transaction was not found, or the node cannot repeat it",
        ),
    ] = None
    trading_cap_pct: Annotated[
        float | None,
        _field(
            meaning="Largest single transfer that the code allows with today's storage, in percent "
            "of the supply. A search in simulations is at `/limits`.",
            unit="percent",
            null="no such cap is in force, or its size could not be evaluated",
            is_native=True,
        ),
    ] = None
    position_cap_pct: Annotated[
        float | None,
        _field(
            meaning="Most that the code allows an address to hold with today's storage, in percent "
            "of the supply.",
            unit="percent",
            null="no such cap is in force, or its size could not be evaluated",
            is_native=True,
        ),
    ] = None
