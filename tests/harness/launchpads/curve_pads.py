"""Launchpads with a curve, as the chain's facts name them."""

from config.facts.launchpad import Launchpad
from config.facts.load_chains import load_chains
from core.evm.primitives import Address


def pad_of(curve: str, *contracts: Address) -> Launchpad:
    """The built-in platform with this curve, with its contracts here."""
    pads = [pad for chain in load_chains(None) for pad in chain.launchpads]
    built_in = next(pad for pad in pads if pad.curve == curve and pad.registry)
    (registry, *_) = built_in.registry
    return Launchpad(
        slug=built_in.slug,
        kind="curve",
        curve=built_in.curve,
        contracts=contracts,
        registry=(registry,),
    )
