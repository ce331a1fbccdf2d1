"""Pool families and their exchanges: none is forgotten or invented, and a mistake is named."""

import tomllib
from pathlib import Path

import pytest

from config.facts.chain import Chain
from config.facts.pool_family import FAMILIES, load_families
from core.errors import ConfigError
from tests.harness.built_in_chains import BUILT_IN_CHAINS

CREATION = 'declared = "Made(address indexed token0,address indexed token1,address pool)"'
SWAP = 'declared = "Swap(int256 amount0,int256 amount1)"'


def written(folder: Path, *, creation: str = CREATION, swap: str = SWAP) -> Path:
    path = folder / "odd.toml"
    path.write_text(f'kind = "Odd"\n[[creation]]\n{creation}\n[[swap]]\n{swap}\n')
    return path


def test_what_is_well_formed_is_loaded(tmp_path: Path) -> None:
    written(tmp_path)
    (family,) = load_families(tmp_path)
    assert (family.kind, family.goplus_type) == ("Odd", None)
    assert family.creation[0].form.words == 1
    assert not family.swap[0].is_by_side


@pytest.mark.parametrize(
    ("creation", "swap", "reason"),
    [
        (CREATION.replace("address pool", "address pair"), SWAP, "write _pair"),
        (CREATION.replace("address pool", "address _pair"), SWAP, "pool or pool_id"),
        (CREATION.replace("token0", "_a"), SWAP, "token0"),
        (
            CREATION.replace("token0,address indexed token1", "a,address[] _tokens"),
            SWAP,
            "write _a",
        ),
        (
            CREATION.replace(
                "address indexed token0,address indexed token1", "address[] tokens"
            ).replace("address pool", "address _pool"),
            SWAP,
            "pool or pool_id",
        ),
        (CREATION, SWAP.replace("amount1", "coin_in"), "coin_out"),
        (CREATION + "\nfee_bit = 1", SWAP, "not a known key"),
        (CREATION, SWAP.replace("amount1", "amount1_in"), "all four amounts"),
        (CREATION, SWAP.replace("amount1", "_other"), "all four amounts"),
        (CREATION, SWAP.replace("int256 amount1", "amount1"), "not an argument"),
    ],
)
def test_a_mistake_names_the_file(tmp_path: Path, creation: str, swap: str, reason: str) -> None:
    path = written(tmp_path, creation=creation, swap=swap)
    with pytest.raises(ConfigError) as caught:
        load_families(tmp_path)
    assert caught.value.source == str(path)
    assert reason in caught.value.reason


def test_families_agree_on_an_event_that_they_share() -> None:
    """The decoder of swaps knows an event once, with all kinds that emit it."""
    events = {event for family in FAMILIES for event in family.swap}
    assert len({event.form.topic0 for event in events}) == len(events)


RESEARCHED = tomllib.loads(
    Path(__file__).with_name("exchanges.toml").read_text(encoding="utf-8"),
)


@pytest.mark.parametrize("chain", BUILT_IN_CHAINS, ids=lambda chain: chain.slug)
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
