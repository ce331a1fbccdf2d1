"""Tokens by pool kinds, with every behaviour that matters to a trader, and one in many pools.

Data only. Another behaviour is another animal, another kind of pool another line.
"""

import msgspec

from assay.demo.layout import Pool, Sides, VenueKey, Venues, ZooToken, native_worth
from assay.demo.seeding import seed
from assay.demo.transaction_pipeline import Pipeline
from assay.demo.zoo import ZOO
from assay.demo.zoo_token import Animal, Hook, Quote
from core.evm.primitives import ZERO_ADDRESS
from tests.harness.chain.transactions import Chain

_SHARE_RAW = 1_000 * 10**18


def seed_nine_more(chain: Chain, token: ZooToken) -> None:
    """Create nine pools besides the token's own, a Uniswap V2 pair with the wrapped coin.

    On four venues, each worth about 20,000 to 100,000 dollars.
    """
    venues = chain.world.venues
    pipeline = Pipeline(chain.node, chain.artifacts)
    weth, *stables = (venues.wrapped_native, *venues.stables)
    for usd, anchor in zip((10_000, 20_000, 30_000), (weth, *stables), strict=True):
        sides = Sides(
            token=token.address,
            token_raw=_SHARE_RAW,
            quote=anchor.address,
            quote_raw=native_worth(usd) if anchor == weth else usd * 10**anchor.decimals,
            owner=token.owner,
        )
        for pool in _seeded(pipeline, venues, sides, has_v2=anchor == weth):
            assert pool.quote in (anchor.address, ZERO_ADDRESS)
    pipeline.flush()


def _seeded(pipeline: Pipeline, venues: Venues, sides: Sides, *, has_v2: bool) -> list[Pool]:
    keys: tuple[VenueKey, ...] = ("v3", "solid", "v4" if has_v2 else "v2")
    return [seed(pipeline, venues, key, sides) for key in keys]


class Trade(msgspec.Struct, frozen=True, kw_only=True):
    """Trade of real people, for cases in which the usual trade would not meet the forecast."""

    spend_usd: int = 30
    is_first: bool = False
    """Nobody buys before them."""
    at_even_block: bool = False
    """They buy in a block of an even number."""


class Behaviour(msgspec.Struct, frozen=True, kw_only=True):
    """One way a token treats traders."""

    animal: Animal
    kinds: tuple[str, ...]
    trade: Trade = Trade()


class PoolKind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of pool."""

    venue: VenueKey
    quote: Quote = "native"
    hook: Hook | None = None


KINDS: dict[str, PoolKind] = {
    "v2": PoolKind(venue="v2"),
    "v3": PoolKind(venue="v3"),
    "pancake": PoolKind(venue="pancake"),
    "algebra": PoolKind(venue="algebra"),
    "v4": PoolKind(venue="v4"),
    "v4_usdc": PoolKind(venue="v4", quote="usdc"),
    "v4_fee": PoolKind(venue="v4", hook="fee"),
    "v4_input": PoolKind(venue="v4", hook="input"),
    "solid": PoolKind(venue="solid"),
    "solid_stable": PoolKind(venue="solid_stable", quote="usdc"),
    "slipstream": PoolKind(venue="slipstream"),
}

_FAMILIES = ("v2", "v3", "v4", "solid", "slipstream")
"""One kind of each family."""

_FEES = (*_FAMILIES, "algebra")
"""Algebra's router trades the received amount, the other concentrated ones fail where it is less.
"""

_PAIRS = ("v2", "solid")

_LARGE = Trade(spend_usd=750)
"""A twentieth of the pool, as the service's largest buy."""

_SPECIAL = {
    "tiny_transaction": Trade(spend_usd=1),
}

_OF_THE_ZOO = (
    "honest",
    "buy_tax",
    "sell_tax",
    "both_tax",
    "transfer_tax",
    "sell_blocked",
    "not_opened",
    "blacklist",
    "cooldown",
    "max_transaction",
    "max_wallet",
    "tiny_transaction",
    "proxy_1967",
    "silent_refusal",
    "evades_free_gas",
    "evades_rich",
    "evades_round",
    "evades_clock",
    "dumping",
    "partial_sale",
    "frozen",
    "decoy",
    "melting",
)

_OF_THEIR_OWN: tuple[tuple[str, str, tuple[str, ...], Trade], ...] = (
    ("block_cooldown", "BlockCooldownToken", _FAMILIES, Trade()),
    ("shared_cooldown", "SharedCooldownToken", _FAMILIES, Trade()),
    ("one_buy", "OneBuyToken", _FAMILIES, Trade()),
    ("sell_once", "SellOnceToken", _FAMILIES, Trade()),
    ("origin", "OriginToken", _FAMILIES, Trade()),
    ("wallets_only", "WalletsOnlyToken", _FAMILIES, Trade()),
    ("gas_price", "GasPriceToken", _FAMILIES, Trade()),
    ("opening_limit", "OpeningLimitToken", _FAMILIES, Trade()),
    ("sniper", "SniperToken", _FAMILIES, Trade()),
    ("parity", "ParityToken", _FAMILIES, Trade(is_first=True, at_even_block=True)),
    ("closing", "ClosingToken", _FAMILIES, Trade()),
    ("listed_sellers", "ListedSellersToken", _FAMILIES, Trade()),
    ("freezer", "FreezerToken", _FAMILIES, Trade()),
    ("dust_sale", "DustSaleToken", _FAMILIES, Trade()),
    ("keep_one", "KeepOneToken", _FAMILIES, Trade()),
    ("minting_sale", "MintingSaleToken", _FAMILIES, Trade()),
    ("rising_fee", "RisingFeeToken", _FEES, Trade()),
    ("falling_fee", "FallingFeeToken", _FEES, Trade()),
    ("counted_fee", "CountedFeeToken", _FEES, Trade(is_first=True)),
    ("first_buyer_fee", "FirstBuyerFeeToken", _FEES, Trade(is_first=True)),
    ("large_fee", "LargeFeeToken", _FEES, _LARGE),
    ("origin_fee", "OriginFeeToken", _FEES, Trade()),
    ("caller_fee", "CallerFeeToken", _FEES, Trade()),
    # Elsewhere too little gas makes sales fail, so wallets would give more.
    ("gas_fee", "GasFeeToken", ("v2", "solid", "algebra"), Trade()),
    ("burning_fee", "BurningFeeToken", _FEES, Trade()),
    ("swap_back", "SwapBackToken", ("v2",), Trade()),
    ("router_swap_back", "RouterSwapBackToken", ("v2",), Trade()),
    ("pair_burning", "PairBurningToken", _PAIRS, Trade()),
    ("reflecting", "ReflectingToken", _FEES, Trade(spend_usd=750, is_first=True)),
    ("elastic", "ElasticToken", _FAMILIES, Trade()),
    ("loud", "LoudToken", _FAMILIES, Trade()),
    ("greedy", "GreedyToken", _FAMILIES, Trade()),
    ("destructing", "DestructingToken", _FAMILIES, Trade()),
    ("calling_back", "CallingBackToken", _PAIRS, Trade()),
    ("skimming", "SkimmingToken", _PAIRS, Trade()),
    # On V4 it depends on the router whether an answer is looked at; the tests' one does not.
    ("denying", "DenyingToken", ("v2", "v3", "solid", "slipstream"), Trade()),
    # V4's test router requires an answer.
    ("mute", "MuteToken", ("v2", "v3", "pancake", "algebra", "solid", "slipstream"), Trade()),
    ("modest_approval", "ModestApprovalToken", _FAMILIES, Trade()),
    ("orphan_block", "OrphanBlockToken", _FAMILIES, Trade()),
    ("permit_only", "PermitOnlyToken", _FAMILIES, Trade()),
    ("hooked", "HookedToken", _FAMILIES, Trade()),
    ("two_faced", "TwoFacedToken", _FAMILIES, Trade()),
)
"""Key, contract, kinds of pool, and how it is traded for real."""

BEHAVIOURS: dict[str, Behaviour] = {
    animal.key: Behaviour(
        animal=animal, kinds=tuple(KINDS), trade=_SPECIAL.get(animal.key, Trade())
    )
    for animal in ZOO
    if animal.key in _OF_THE_ZOO
} | {
    key: Behaviour(
        animal=Animal(key=key, trait=key, symbol="ODD", contract=contract, extra="pair"),
        kinds=kinds,
        trade=trade,
    )
    for key, contract, kinds, trade in _OF_THEIR_OWN
}

CASES: tuple[tuple[str, str], ...] = tuple(
    (name, kind) for name, behaviour in BEHAVIOURS.items() for kind in behaviour.kinds
)
"""Behaviour and kind."""


def animal_of(behaviour: str, kind: str) -> Animal:
    """The token to put on the chain."""
    where = KINDS[kind]
    return msgspec.structs.replace(
        BEHAVIOURS[behaviour].animal, venue=where.venue, quote=where.quote, hook=where.hook
    )
