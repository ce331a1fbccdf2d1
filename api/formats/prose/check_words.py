"""All texts of the checks: the bad answer, no answer, the good answer.

Search, pages, cards, the command line and the API use these. A clause begins in lower case and
stands alone or after another. `unknown` follows "it is unknown". The sense never flips: `fine`
covers exactly what was tested.
"""

from typing import Final

import msgspec


class CheckWords(msgspec.Struct, frozen=True, kw_only=True):
    """The three clauses of one check."""

    wrong: str
    unknown: str
    fine: str

    @property
    def label(self) -> str:
        """Return the finding of the check as a separate line."""
        return capital(self.wrong)


def capital(clause: str) -> str:
    """Return a clause with a capital letter; an address stays as it is."""
    return clause if clause.startswith("0x") else clause[:1].upper() + clause[1:]


CHECK_WORDS: Final[dict[str, CheckWords]] = {
    "allowance_bypass": CheckWords(
        wrong="others can move your tokens without your approval",
        unknown="whether others can move your tokens without your approval",
        fine="nobody who tried could move tokens without their holder's approval",
    ),
    "balances_can_be_created": CheckWords(
        wrong="anyone can create tokens",
        unknown="whether anyone can create tokens",
        fine="no simulated call created tokens",
    ),
    "funds_can_be_drained": CheckWords(
        wrong="others can take tokens out of your wallet",
        unknown="whether others can take tokens out of your wallet",
        fine="nobody who tried could take tokens out of a wallet",
    ),
    "owner_can_change_balance": CheckWords(
        wrong="the owner can change your balance",
        unknown="whether the owner can change your balance",
        fine="the owner could not change a holder's balance",
    ),
    "transfer_failed": CheckWords(
        wrong="transfers between wallets fail",
        unknown="whether transfers between wallets work",
        fine="transfers between wallets work",
    ),
    "view_function_modifies_state": CheckWords(
        wrong="a function that should only read data changes it",
        unknown="whether functions that should only read data change it",
        fine="functions that should only read data change nothing",
    ),
    "high_tax": CheckWords(
        wrong="a trade loses half of its value or more",
        unknown="whether a trade loses half of its value",
        fine="no tested trade loses half of its value",
    ),
    "sell_blocked_later": CheckWords(
        wrong="you can sell it today, but not within the next 30 days",
        unknown="whether you can still sell it within the next 30 days",
        fine="sales simulated up to 30 days ahead still work",
    ),
    "sell_tax_rises": CheckWords(
        wrong="the tax on sales rises to 50 % or more, within 30 days or after trades",
        unknown="whether the tax on sales rises later",
        fine="the tax on sales stays below 50 % when simulated up to 30 days ahead",
    ),
    "sell_blocked_after_others": CheckWords(
        wrong="sales fail after other people have traded",
        unknown="whether sales still work after other people have traded",
        fine="sales still work after other people have traded",
    ),
    "sell_depends_on_size": CheckWords(
        wrong="some buyers can sell and others cannot",
        unknown="whether every size of holding can be sold",
        fine="every tested size of holding can be sold",
    ),
    "sell_depends_on_conditions": CheckWords(
        wrong="sales fail or lose half, depending on fees, gas, balances or luck",
        unknown="whether sales depend on fees, gas, balances or luck",
        fine="sales do not depend on fees, gas, balances or luck",
    ),
    "dominant_pool_unsellable": CheckWords(
        wrong="it cannot be sold in its largest pool",
        unknown="whether it can be sold in its largest pool",
        fine="it can be sold in its largest pool",
    ),
    "access_restrictions": CheckWords(
        wrong="single addresses can be blocked from trading",
        unknown="whether single addresses can be blocked from trading",
        fine="the code keeps no list that blocks addresses",
    ),
    "transfer_restrictions": CheckWords(
        wrong="the size of transfers or holdings can be limited",
        unknown="whether the size of transfers or holdings can be limited",
        fine="the code does not limit the size of transfers or holdings",
    ),
    "pause_status_can_be_modified": CheckWords(
        wrong="all transfers can be paused",
        unknown="whether all transfers can be paused",
        fine="nobody can pause all transfers",
    ),
    "trading_cooldown": CheckWords(
        wrong="you must wait between two transfers",
        unknown="whether you must wait between two transfers",
        fine="you need not wait between two transfers",
    ),
    "mint_or_burn_function": CheckWords(
        wrong="the supply can be changed",
        unknown="whether the supply can be changed",
        fine="no function changes the supply",
    ),
    "tax_can_be_modified": CheckWords(
        wrong="the tax can be changed",
        unknown="whether the tax can be changed",
        fine="no function changes a tax",
    ),
    "elevated_tax": CheckWords(
        wrong="a trade is taxed 10 % or more",
        unknown="whether a trade is taxed 10 % or more",
        fine="no tested trade is taxed 10 % or more",
    ),
    "timebomb": CheckWords(
        wrong="the code behaves differently depending on the time",
        unknown="whether the code behaves differently depending on the time",
        fine="no date in the code is near",
    ),
    "is_proxy": CheckWords(
        wrong="its code can be replaced",
        unknown="whether its code can be replaced",
        fine="it is not a proxy, so its code stays as it is",
    ),
    "trading_cap_can_be_modified": CheckWords(
        wrong="the largest allowed transfer can be changed",
        unknown="whether the largest allowed transfer can be changed",
        fine="no function changes the largest allowed transfer",
    ),
    "position_cap_can_be_modified": CheckWords(
        wrong="the largest allowed holding can be changed",
        unknown="whether the largest allowed holding can be changed",
        fine="no function changes the largest allowed holding",
    ),
    "ownership_not_renounced": CheckWords(
        wrong="it still has an owner",
        unknown="whether it still has an owner",
        fine="it has no owner, or the owner gave up control",
    ),
    "holder_concentration": CheckWords(
        wrong="one holder has over 20 % of the supply",
        unknown="whether one holder has over 20 % of the supply",
        fine="no holder but pools, known lockers and burn addresses has over 20 % of the supply",
    ),
    "creator_holds_supply": CheckWords(
        wrong="the creator holds over 5 % of the supply",
        unknown="how much the creator holds",
        fine="the creator holds no more than 5 % of the supply",
    ),
    "has_enough_liquidity": CheckWords(
        wrong="no pool holds enough to trade",
        unknown="whether a pool holds enough to trade",
        fine="a pool holds enough to trade",
    ),
    "untested_conditions": CheckWords(
        wrong="the code can block or tax trades in cases that could not be tested",
        unknown="in which cases the code blocks or taxes trades",
        fine="every case in which the code blocks or taxes trades was tested",
    ),
    "hidden_owner_controls": CheckWords(
        wrong="someone can change the rules of trades",
        unknown="whether someone can change the rules of trades",
        fine="nobody can change the rules of trades in a way that no other check names",
    ),
    "disguised_code": CheckWords(
        wrong="its creation hid balances or approvals",
        unknown="whether its creation hid balances or approvals",
        fine="its creation hid no balances and no approvals",
    ),
    "unproved_code": CheckWords(
        wrong="it is not proved that tokens move only with their holder's consent",
        unknown="whether tokens move only with their holder's consent",
        fine="tokens are proved to move only with their holder's consent",
    ),
    "liquidity_can_leave": CheckWords(
        wrong="half of the liquidity or more can be withdrawn within 30 days",
        unknown="who can withdraw the liquidity",
        fine="no single holder can withdraw half of the liquidity",
    ),
    "transfer_guarded_by_storage": CheckWords(
        wrong="stored settings decide whether a transfer works",
        unknown="whether stored settings decide on transfers",
        fine="no stored setting decides whether a transfer works",
    ),
    "transfer_from_guarded_by_storage": CheckWords(
        wrong="stored settings decide whether an approved address can move tokens",
        unknown="whether stored settings decide on transfers by approved addresses",
        fine="no stored setting decides whether an approved address can move tokens",
    ),
    "has_pause_functionality": CheckWords(
        wrong="the code can pause all transfers",
        unknown="whether the code can pause all transfers",
        fine="the code has no switch that pauses all transfers",
    ),
    "has_tax_functionality": CheckWords(
        wrong="the code can take a tax",
        unknown="whether the code can take a tax",
        fine="the code takes no tax",
    ),
    "has_owner_functionality": CheckWords(
        wrong="some addresses have special rights",
        unknown="whether some addresses have special rights",
        fine="no address has special rights",
    ),
    "external_call": CheckWords(
        wrong="the code relies on other contracts",
        unknown="whether the code relies on other contracts",
        fine="the code relies on no other contract",
    ),
    "can_selfdestruct": CheckWords(
        wrong="the code contains a command that deletes it",
        unknown="whether the code can delete itself",
        fine="the code cannot delete itself",
    ),
    "privileged_spenders": CheckWords(
        wrong="named addresses need no approval to move tokens",
        unknown="whether named addresses can move tokens without approval",
        fine="no named address could move tokens without approval",
    ),
    "is_open_source": CheckWords(
        wrong="the source code is not published",
        unknown="whether the source code is published",
        fine="the source code is published",
    ),
}
"""Clauses by key of the check. A test compares the keys with the catalogue's."""
