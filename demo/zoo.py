"""The zoo: one row per token, one trait per row."""

from typing import Literal

import msgspec

from demo.layout import VenueKey

Quote = Literal["native", "usdc", "usdt"]
"""Wrapped native coin (v4: the native coin), strict stable, stable that answers nothing."""

Extra = Literal["pair", "keeper"]
"""Constructor arguments behind name and symbol: the token's pair, or its privileged address."""

Form = Literal["plain", "bytes32", "proxy", "beacon", "clone"]
"""How the token comes into being. plain: name, symbol and extras into the constructor."""


Hook = Literal["fee", "trap", "input", "dynamic", "router"]
"""Which hook a V4 pool has."""


class Animal(msgspec.Struct, frozen=True, kw_only=True):
    """What to deploy for one token and where it trades."""

    key: str
    trait: str
    symbol: str
    contract: str = "HonestToken"
    form: Form = "plain"
    extra: Extra | None = None
    decimals: int = 18
    venue: VenueKey = "v2"
    quote: Quote = "native"
    hook: Hook | None = None
    """v4 only."""
    quote_usd: int = 15_000
    """What the owner puts on the pool's quote side."""
    pool_pct: int = 93
    """Percent of the supply put on the pool's token side."""
    renounced: bool = False


ZOO: tuple[Animal, ...] = (
    Animal(key="honest", trait="honest", symbol="HONEST"),
    Animal(
        key="buy_tax",
        trait="7 % tax on buys, 9 decimals",
        symbol="BTAX",
        contract="BuyTaxToken",
        extra="pair",
        decimals=9,
    ),
    Animal(
        key="sell_tax",
        trait="12 % tax on sells",
        symbol="STAX",
        contract="SellTaxToken",
        extra="pair",
    ),
    Animal(
        key="both_tax",
        trait="5 % tax on buys, 9 % on sells",
        symbol="BOTH",
        contract="BothTaxToken",
        extra="pair",
    ),
    Animal(
        key="transfer_tax",
        trait="3 % tax on every transfer",
        symbol="TTAX",
        contract="TransferTaxToken",
    ),
    Animal(
        key="sell_blocked",
        trait="only the owner can sell",
        symbol="TRAP",
        contract="SellBlockedToken",
        extra="pair",
    ),
    Animal(
        key="not_opened",
        trait="trading not opened yet",
        symbol="WAIT",
        contract="NotOpenedToken",
    ),
    Animal(
        key="blacklist",
        trait="buyers land on a blacklist and cannot sell",
        symbol="BLACK",
        contract="BlacklistToken",
        extra="pair",
    ),
    Animal(
        key="cooldown",
        trait="60 seconds between an address's transfers",
        symbol="COOL",
        contract="CooldownToken",
        extra="pair",
    ),
    Animal(
        key="max_transaction",
        trait="at most 1 % of the supply in one transfer",
        symbol="MAXTX",
        contract="MaxTransactionToken",
    ),
    Animal(
        key="tiny_transaction",
        trait="at most 0.01 % of the supply in one transfer, and 2 % tax",
        symbol="TINY",
        contract="TinyTransactionToken",
    ),
    Animal(
        key="max_wallet",
        trait="at most 2 % of the supply in one wallet",
        symbol="MAXW",
        contract="MaxWalletToken",
        extra="pair",
    ),
    Animal(key="mintable", trait="the owner can mint", symbol="MINT", contract="MintableToken"),
    Animal(key="pausable", trait="the owner can pause", symbol="PAUSE", contract="PausableToken"),
    Animal(
        key="proxy_1967",
        trait="EIP-1967 proxy",
        symbol="PROXY",
        contract="UpgradeableToken",
        form="proxy",
    ),
    Animal(
        key="proxy_beacon",
        trait="EIP-1967 beacon proxy",
        symbol="BEACON",
        contract="UpgradeableToken",
        form="beacon",
    ),
    Animal(
        key="clone_1167",
        trait="EIP-1167 clone",
        symbol="CLONE",
        contract="UpgradeableToken",
        form="clone",
    ),
    Animal(
        key="timebomb_constant",
        trait="transfers end in 2100, fixed in the code",
        symbol="BOMB",
        contract="ConstantTimebombToken",
    ),
    Animal(
        key="timebomb_stored",
        trait="transfers end at a deadline the owner can move",
        symbol="FUSE",
        contract="StoredTimebombToken",
    ),
    Animal(
        key="bypass_universal",
        trait="transferFrom ignores allowances",
        symbol="OPEN",
        contract="UniversalBypassToken",
    ),
    Animal(
        key="bypass_stored",
        trait="one stored address needs no allowance",
        symbol="SPEND",
        contract="StoredBypassToken",
        extra="keeper",
    ),
    Animal(
        key="bypass_constant",
        trait="one address in the code needs no allowance",
        symbol="FIXED",
        contract="ConstantBypassToken",
        extra="keeper",
    ),
    Animal(
        key="drain_open",
        trait="anybody can take a holder's balance",
        symbol="DRAIN",
        contract="OpenDrainToken",
    ),
    Animal(
        key="drain_keeper",
        trait="one address can take a holder's balance",
        symbol="KEEP",
        contract="KeeperDrainToken",
        extra="keeper",
    ),
    Animal(
        key="renounced",
        trait="ownership renounced",
        symbol="FREE",
        contract="RenouncedToken",
        renounced=True,
    ),
    Animal(
        key="burned",
        trait="15 % of the supply burned",
        symbol="BURN",
        contract="BurnedToken",
        pool_pct=78,
    ),
    Animal(
        key="bytes32",
        trait="name and symbol are bytes32",
        symbol="OLD",
        contract="Bytes32Token",
        form="bytes32",
    ),
    Animal(
        key="silent_refusal",
        trait="refuses transfers by answering false",
        symbol="FALSE",
        contract="SilentRefusalToken",
        extra="pair",
    ),
    Animal(
        key="symbol_burns_gas",
        trait="symbol() burns all gas",
        symbol="GAS",
        contract="GasBurnerToken",
    ),
    Animal(
        key="symbol_megabyte",
        trait="symbol() answers with a megabyte",
        symbol="MEGA",
        contract="MegabyteToken",
    ),
    Animal(
        key="symbol_reverts",
        trait="symbol() reverts",
        symbol="NOSYM",
        contract="RevertingSymbolToken",
    ),
    Animal(
        key="thin",
        trait="pool under 100 USD",
        symbol="THIN",
        quote_usd=45,
    ),
    Animal(key="v2_usdc", trait="honest, quoted in a stable", symbol="QUSDC", quote="usdc"),
    Animal(
        key="v2_usdt",
        trait="honest, quoted in a stable that answers nothing",
        symbol="QUSDT",
        quote="usdt",
    ),
    Animal(key="v3_honest", trait="honest, on V3", symbol="V3", venue="v3"),
    Animal(
        key="v3_usdc",
        trait="honest, on V3, quoted in a stable",
        symbol="V3USDC",
        venue="v3",
        quote="usdc",
    ),
    Animal(
        key="v3_transfer_tax",
        trait="3 % tax on every transfer, on V3",
        symbol="V3TAX",
        contract="TransferTaxToken",
        venue="v3",
    ),
    Animal(
        key="v3_not_opened",
        trait="trading not opened yet, on V3",
        symbol="V3WAIT",
        contract="NotOpenedToken",
        venue="v3",
    ),
    Animal(key="v4_honest", trait="honest, on V4", symbol="V4", venue="v4"),
    Animal(
        key="v4_hook",
        trait="V4 pool with a hook that keeps 2 % of buys, 4 % of sells",
        symbol="HOOK",
        venue="v4",
        hook="fee",
    ),
    Animal(
        key="v4_trap",
        trait="V4 pool with a hook that keeps 1.23 % of buys and breaks sells",
        symbol="HTRAP",
        venue="v4",
        hook="trap",
    ),
    Animal(
        key="v4_usdc",
        trait="honest, on V4, quoted in a stable",
        symbol="V4USDC",
        venue="v4",
        quote="usdc",
    ),
    Animal(
        key="v4_usdc_hook",
        trait="V4 pool of a stable with a hook that keeps 1.23 % of both",
        symbol="HUSDC",
        venue="v4",
        quote="usdc",
        hook="trap",
    ),
    Animal(
        key="v4_input_hook",
        trait="V4 pool with a hook that keeps 3 % of what is paid in",
        symbol="HIN",
        venue="v4",
        hook="input",
    ),
    Animal(
        key="v4_dynamic_fee",
        trait="V4 pool with a hook that sets the fee to 5 %",
        symbol="HDYN",
        venue="v4",
        hook="dynamic",
    ),
    Animal(
        key="v4_router_hook",
        trait="V4 pool with a hook that lets one router trade",
        symbol="HROUTE",
        venue="v4",
        hook="router",
    ),
    Animal(
        key="v4_transfer_tax",
        trait="3 % tax on every transfer, on V4",
        symbol="V4TAX",
        contract="TransferTaxToken",
        venue="v4",
    ),
    Animal(key="pancake_honest", trait="honest, on Pancake V3", symbol="CAKE", venue="pancake"),
    Animal(key="algebra_honest", trait="honest, on Algebra", symbol="ALG", venue="algebra"),
    Animal(
        key="algebra_transfer_tax",
        trait="3 % tax on every transfer, on Algebra",
        symbol="ALGTAX",
        contract="TransferTaxToken",
        venue="algebra",
    ),
    Animal(
        key="slipstream_honest", trait="honest, on Slipstream", symbol="SLIP", venue="slipstream"
    ),
    Animal(
        key="solid_stable",
        trait="honest, on a stable pair",
        symbol="PEG",
        venue="solid_stable",
        quote="usdc",
    ),
    Animal(key="solid_honest", trait="honest, on a volatile pair", symbol="SOLID", venue="solid"),
    Animal(
        key="solid_transfer_tax",
        trait="3 % tax on every transfer, on a volatile pair",
        symbol="SOLTAX",
        contract="TransferTaxToken",
        venue="solid",
    ),
    Animal(
        key="evades_free_gas",
        trait="sells only while gas costs nothing",
        symbol="XGAS",
        contract="FreeGasEvasion",
        extra="pair",
    ),
    Animal(
        key="evades_rich",
        trait="sells only from absurdly rich accounts",
        symbol="XRICH",
        contract="RichAccountEvasion",
        extra="pair",
    ),
    Animal(
        key="evades_round",
        trait="sells only what was bought for a round share of the pool",
        symbol="XROUND",
        contract="RoundShareEvasion",
        extra="pair",
    ),
    Animal(
        key="evades_clock",
        trait="sells only when time passes without its blocks",
        symbol="XCLOCK",
        contract="FastClockEvasion",
        extra="pair",
    ),
    Animal(
        key="dumping",
        trait="ruins the price inside the seller's own transfer",
        symbol="DUMP",
        contract="DumpingToken",
        extra="pair",
    ),
    Animal(
        key="partial_sale",
        trait="sells a thousandth of what was asked",
        symbol="PART",
        contract="PartialSaleToken",
        extra="pair",
    ),
    Animal(
        key="frozen",
        trait="only its maker can send; balances hard to find",
        symbol="FROZEN",
        contract="FrozenToken",
        extra="pair",
    ),
    Animal(
        key="decoy",
        trait="only balances set by way of storage can be sent",
        symbol="DECOY",
        contract="DecoyToken",
        extra="pair",
    ),
    Animal(
        key="melting",
        trait="what was bought is a hundredth in the next block",
        symbol="MELT",
        contract="MeltingToken",
        extra="pair",
    ),
)
