"""Words of each check of the summary: the bad answer, no answer, the good answer.

A clause begins in lower case and stands alone or after another. The sense never flips: `fine`
covers exactly what was tested.
"""

from typing import Final

import msgspec


class CheckWords(msgspec.Struct, frozen=True):
    """The three clauses of one check."""

    wrong: str
    unknown: str
    fine: str


CHECK_WORDS: Final[dict[str, CheckWords]] = {
    "allowance_bypass": CheckWords(
        "others can move tokens out of a wallet that approved nobody",
        "it is not known whether others can move tokens without approval",
        "nobody who tried could move a holder's tokens without approval",
    ),
    "balances_can_be_created": CheckWords(
        "anybody can create balances",
        "it is not known whether anybody can create balances",
        "no simulated call creates balances",
    ),
    "funds_can_be_drained": CheckWords(
        "others can take tokens out of a wallet",
        "it is not known whether others can take tokens out of a wallet",
        "nobody who tried could take tokens out of a wallet",
    ),
    "owner_can_change_balance": CheckWords(
        "the owner can change any holder's balance",
        "it is not known whether the owner can change balances",
        "the owner could not change a holder's balance",
    ),
    "transfer_failed": CheckWords(
        "transfers between wallets fail",
        "it is not known whether transfers between wallets work",
        "transfers between wallets work",
    ),
    "view_function_modifies_state": CheckWords(
        "a function that should only read changes storage",
        "it is not known whether functions that should only read change storage",
        "functions that should only read do not change storage",
    ),
    "high_tax": CheckWords(
        "a trade loses half of its value or more",
        "it is not known whether a trade loses half of its value",
        "no tested trade loses half of its value to taxes",
    ),
    "sell_blocked_later": CheckWords(
        "sales that pass today are refused within 30 days",
        "it is not known whether sales still pass within the next 30 days",
        "sales still pass when simulated up to 30 days ahead",
    ),
    "sell_tax_rises": CheckWords(
        "the tax on sales rises to half or more within 30 days, or after trades",
        "it is not known whether the tax on sales rises later",
        "the tax on sales stays below half when simulated up to 30 days ahead",
    ),
    "sell_blocked_after_others": CheckWords(
        "sales are refused after other people have traded",
        "it is not known whether sales still pass after other people have traded",
        "sales still pass after other people have traded",
    ),
    "sell_depends_on_size": CheckWords(
        "some buyers cannot sell what others can",
        "it is not known whether all sizes of holdings can be sold",
        "every tested size of holding could be sold",
    ),
    "sell_depends_on_conditions": CheckWords(
        "sales fail or lose half, depending on fees, gas, balances or luck",
        "it is not known whether sales depend on fees, gas, balances or luck",
        "sales do not depend on fees, gas, balances or luck",
    ),
    "dominant_pool_unsellable": CheckWords(
        "it cannot be sold in its deepest pool",
        "it is not known whether it can be sold in its deepest pool",
        "it can be sold in its deepest pool",
    ),
    "access_restrictions": CheckWords(
        "single addresses can be blocked from trading",
        "it is not known whether addresses can be blocked from trading",
        "the code keeps no list that blocks addresses",
    ),
    "transfer_restrictions": CheckWords(
        "the size of a transfer or of a holding can be limited",
        "it is not known whether the size of transfers or holdings can be limited",
        "the code does not limit the size of transfers or holdings",
    ),
    "pause_status_can_be_modified": CheckWords(
        "transfers can be stopped for everybody",
        "it is not known whether transfers can be stopped for everybody",
        "nobody can stop transfers for everybody",
    ),
    "trading_cooldown": CheckWords(
        "an address must wait between its transfers",
        "it is not known whether an address must wait between its transfers",
        "an address need not wait between its transfers",
    ),
    "mint_or_burn_function": CheckWords(
        "the supply can be changed",
        "it is not known whether the supply can be changed",
        "no function changes the supply",
    ),
    "tax_can_be_modified": CheckWords(
        "the tax can be changed",
        "it is not known whether a tax can be changed",
        "no function changes a tax",
    ),
    "elevated_tax": CheckWords(
        "a trade is taxed 10 % or more",
        "it is not known whether a trade is taxed 10 % or more",
        "no tested trade is taxed 10 % or more",
    ),
    "timebomb": CheckWords(
        "what the code does depends on the time",
        "it is not known whether the code depends on the time",
        "no date in the code is near",
    ),
    "is_proxy": CheckWords(
        "its code can be replaced, as it is a proxy",
        "it is not known whether it is a proxy",
        "it is not a proxy, so its code stays as it is",
    ),
    "trading_cap_can_be_modified": CheckWords(
        "the largest transfer can be changed",
        "it is not known whether the largest transfer can be changed",
        "no function changes the largest transfer",
    ),
    "position_cap_can_be_modified": CheckWords(
        "the largest holding can be changed",
        "it is not known whether the largest holding can be changed",
        "no function changes the largest holding",
    ),
    "ownership_not_renounced": CheckWords(
        "it still has an owner",
        "it is not known whether it still has an owner",
        "it has no owner, or the owner has renounced",
    ),
    "holder_concentration": CheckWords(
        "one holder has over 20 % of the supply",
        "it is not known whether one holder has over 20 % of the supply",
        "no holder but pools, known lockers and burn addresses has over 20 % of the supply",
    ),
    "creator_holds_supply": CheckWords(
        "the creator holds over 5 % of the supply",
        "it is not known what the creator holds",
        "the creator holds no more than 5 % of the supply",
    ),
    "has_enough_liquidity": CheckWords(
        "no pool holds enough to trade",
        "it is not known whether a pool holds enough to trade",
        "a pool holds enough to trade",
    ),
    "untested_conditions": CheckWords(
        "the code can refuse or tax trades on conditions that could not be tested",
        "it is not known on what conditions the code refuses or taxes trades",
        "every condition on which the code refuses or taxes trades was tested",
    ),
    "hidden_owner_controls": CheckWords(
        "somebody with powers can refuse or tax trades in a way that no other check names",
        "it is not known whether somebody has powers over trades that no other check names",
        "nobody has powers over trades that no other check names",
    ),
    "disguised_code": CheckWords(
        "its creation hid balances or allowances from the events",
        "it is not known whether its creation hid balances or allowances",
        "all balances and allowances of its creation have events",
    ),
    "unproved_code": CheckWords(
        "the code can move or approve tokens and is not proved to ask their holder",
        "it is not proved that tokens move only when their holder agrees",
        "tokens are proved to move only when their holder agrees",
    ),
    "liquidity_can_leave": CheckWords(
        "half of its liquidity can leave at one holder's will, or is young and not locked",
        "it is not known who can withdraw its liquidity",
        "its liquidity cannot leave at one holder's will",
    ),
    "transfer_guarded_by_storage": CheckWords(
        "stored settings decide whether a transfer passes",
        "it is not known whether stored settings decide on transfers",
        "no stored setting decides whether a transfer passes",
    ),
    "transfer_from_guarded_by_storage": CheckWords(
        "stored settings decide whether a transfer by an approved spender passes",
        "it is not known whether stored settings decide on transfers by approved spenders",
        "no stored setting decides whether a transfer by an approved spender passes",
    ),
    "has_pause_functionality": CheckWords(
        "the code can stop transfers for everybody",
        "it is not known whether the code can stop transfers for everybody",
        "the code has no switch that stops transfers for everybody",
    ),
    "has_tax_functionality": CheckWords(
        "the code can take a tax",
        "it is not known whether the code can take a tax",
        "the code takes no tax",
    ),
    "has_owner_functionality": CheckWords(
        "some addresses have access that others lack",
        "it is not known whether some addresses have access that others lack",
        "no address has access that others lack",
    ),
    "external_call": CheckWords(
        "the code relies on other contracts",
        "it is not known whether the code relies on other contracts",
        "the code relies on no other contract",
    ),
    "can_selfdestruct": CheckWords(
        "the code contains a selfdestruct",
        "it is not known whether the code contains a selfdestruct",
        "the code contains no selfdestruct",
    ),
    "privileged_spenders": CheckWords(
        "named addresses need no approval to move tokens",
        "it is not known whether named addresses can move tokens without approval",
        "no named address could move tokens without approval",
    ),
    "is_open_source": CheckWords(
        "the source code is not published",
        "it is not known whether the source code is published",
        "the source code is published",
    ),
}
"""Clauses by key of the check. A test compares the keys with the catalogue's."""
