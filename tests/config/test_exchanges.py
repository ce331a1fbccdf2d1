"""No researched exchange of these families is forgotten on any chain, and none is invented."""

import tomllib
from pathlib import Path

import pytest

from config.facts.chain import Chain
from config.facts.load_chains import load_chains

RESEARCHED = tomllib.loads(
    Path(__file__).with_name("exchanges.toml").read_text(encoding="utf-8"),
)


@pytest.mark.parametrize("chain", load_chains(None), ids=lambda chain: chain.slug)
def test_every_exchange_of_these_families_is_followed(chain: Chain) -> None:
    found: dict[str, set[str]] = {}
    for dex in chain.dexes:
        found.setdefault(dex.kind, set()).add(dex.factory)
    researched = dict(RESEARCHED[str(chain.id)])
    left_out = researched.pop("left_out", {})
    assert found == {kind: set(factories) for kind, factories in researched.items()}
    assert not set(left_out) & {dex.name for dex in chain.dexes}
    assert all(left_out.values())


def test_the_research_has_two_hundred_and_eight_exchanges() -> None:
    entries = [entry for chain in RESEARCHED.values() for entry in chain.values()]
    assert sum(len(entry) for entry in entries) == 208
