"""Tokens by pool kinds: every behaviour that matters to a trader, wherever a token can trade.

Data only. Another behaviour is another animal, another kind of pool another line.
"""

import msgspec

from demo.animal import Animal, Hook, Quote
from demo.layout import VenueKey
from demo.zoo import ZOO


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

BEHAVIOURS: dict[str, Animal] = {
    animal.key: animal
    for animal in ZOO
    if animal.key
    in {
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
    }
}

CASES: tuple[tuple[str, str], ...] = tuple((name, kind) for name in BEHAVIOURS for kind in KINDS)
"""Behaviour and kind."""


def animal_of(behaviour: str, kind: str) -> Animal:
    """The token to put on the chain."""
    where = KINDS[kind]
    return msgspec.structs.replace(
        BEHAVIOURS[behaviour], venue=where.venue, quote=where.quote, hook=where.hook
    )
