"""No researched platform is forgotten: each is recognised, or has a reason why not."""

import tomllib
from pathlib import Path

import msgspec
import pytest

from tests.harness.launchpads.platforms import CATALOGUES, CHAINS, EVENTS, REGISTRIES


class Platform(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the research."""

    name: str
    slug: str | None = None
    chains: tuple[int, ...] = ()
    left_out: str | None = None


class _Census(msgspec.Struct, frozen=True):
    platform: tuple[Platform, ...]


PLATFORMS = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("census.toml").read_text(encoding="utf-8")), _Census
).platform
TESTED = {
    *((event.platform, event.chain) for event in EVENTS),
    *((registry.platform, registry.chain) for registry in REGISTRIES),
    *((catalogue.platform, catalogue.chain) for catalogue in CATALOGUES),
}
"""Platforms with separate tests, by events and answers."""


def test_the_research_has_eighty_platforms() -> None:
    assert len({one.name for one in PLATFORMS}) == len(PLATFORMS) == 80


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda one: one.name)
def test_a_platform_is_recognised_or_it_is_said_why_not(platform: Platform) -> None:
    assert (platform.slug is None) == (not platform.chains) == (platform.left_out is not None)
    assert {(platform.slug, chain) for chain in platform.chains} <= TESTED


def test_nothing_is_recognised_that_was_not_researched() -> None:
    researched = {(one.slug, chain) for one in PLATFORMS for chain in one.chains}
    configured = {(pad.slug, chain.id) for chain in CHAINS.values() for pad in chain.launchpads}
    assert configured == researched == TESTED


CURVES = {
    "four-meme": "curve_a",
    "flap": "curve_b",
    "pons": "curve_c",
    "genius-fun": "curve_c",
    "loong": "curve_c",
    "virtuals": "curve_d",
    "printr": "curve_e",
}
"""Platforms whose curves are read; forks have separate slugs and the same curve."""


def test_the_curves_of_these_platforms_are_read_on_every_chain() -> None:
    pads = [pad for chain in CHAINS.values() for pad in chain.launchpads if pad.kind == "curve"]
    assert {pad.slug: pad.curve for pad in pads if pad.curve} == CURVES
    assert all(pad.curve == CURVES[pad.slug] for pad in pads if pad.slug in CURVES)
    forms = {(pad.curve, pad.registry[:1]) for pad in pads if pad.curve and pad.registry}
    # One form a curve, so what is tested of a curve holds for each platform that has it.
    assert len(forms) == len(set(CURVES.values()))
