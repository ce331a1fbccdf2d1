"""Protects the chain facts and pool families: built-in files load, and each mistake is named."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.facts.chain import Chain
from config.facts.chain_names import find_by_name, list_names
from config.facts.load_chains import BUILT_IN, choose_enabled, load_chains
from config.facts.pool_family import FAMILIES, load_families
from config.load_settings import load_settings
from config.toml import decode_address, load_toml, walk
from core.errors import ConfigError
from core.evm.primitives import Address, checksum
from tests.harness.built_in_chains import BUILT_IN_CHAINS

# The specification's tables "Chains" and "Quote tokens", as (id, slug, clock, anchors).
CHAINS = [
    (1, "ethereum", "own", ("WETH", "USDC", "USDT")),
    (56, "chain_56", "own", ("WBNB", "USDT", "USDC")),
    (4663, "chain_4663", "ethereum", ("WETH", "USDG", "USDe")),
    (8453, "chain_8453", "own", ("WETH", "USDC", "USDT")),
    (42161, "chain_42161", "ethereum", ("WETH", "USDC", "USDT")),
    (43114, "chain_43114", "own", ("WAVAX", "USDC", "USDt")),
]

# Names as people type them, of which answers give the slug.
TYPED = {
    "ethereum": ("ethereum", "eth", "1", "ETH", "Ethereum", "0x1", "0X1", "eip155:1", "EIP155:1"),
    "chain_56": ("chain_56", "56", "bsc", "bnb", "BSC"),
    "chain_8453": ("chain_8453", "8453", "base", "Base", "0x2105", "eip155:8453"),
    "chain_42161": ("chain_42161", "42161", "arbitrum", "arb"),
    "chain_43114": ("chain_43114", "43114", "avalanche", "avax", "AVAX", "0xA86A"),
    "chain_4663": ("chain_4663", "4663", "robinhood"),
}

FACTORY = "0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f"

STABLE = "0xdAC17F958D2ee523a2206206994597C13D831ec7"

OTHER_STABLE = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"

ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")

DEX = f'[[dex]]\nname = "Local"\nkind = "AmmV2"\nfactory = "{FACTORY}"\n'

LOCKER = f'[[locker]]\nname = "Vault"\ncontracts = ["{FACTORY}"]\n'

PAD = f'[[launchpad]]\nslug = "local"\nkind = "direct"\ncontracts = ["{FACTORY}"]\n'

EVENT = "[[launchpad.event]]\ndeclared = 'Made(address token)'\ntoken = 'token'\n"


def stable(address: str, decimals: int = 6) -> str:
    return f'[[stable]]\naddress = "{address}"\nsymbol = "USD"\ndecimals = {decimals}\n'


@pytest.fixture
def ethereum(tmp_path: Path) -> Path:
    """The overlay's file for Ethereum, not yet written."""
    (tmp_path / "chains").mkdir()
    return tmp_path / "chains" / "ethereum.toml"


def by_slug(overlay: Path | None, slug: str = "ethereum") -> Chain:
    return next(chain for chain in load_chains(overlay) if chain.slug == slug)


def test_all_six_load_with_their_anchors() -> None:
    loaded = [
        (chain.id, chain.slug, chain.clock, tuple(anchor.symbol for anchor in chain.anchors))
        for chain in load_chains(None)
    ]
    assert loaded == CHAINS


@pytest.mark.parametrize(("slug", "names"), TYPED.items())
def test_a_chain_is_found_by_each_of_its_names(slug: str, names: tuple[str, ...]) -> None:
    chains = load_chains(None)
    assert {found.slug for name in names if (found := find_by_name(chains, name))} == {slug}
    assert all(find_by_name(chains, name) for name in names)
    assert f"{slug} ({names[1] if slug != 'ethereum' else 1}" in list_names(chains)


@pytest.mark.parametrize(
    "name",
    [
        *("", "0", "01", "+1", "1.0", "mainnet", "eth ", "e", "bs\u017f"),
        *("0x", "0x01", "1x0", "0x0", "eip155", "eip155:", "eip155:01", "eip155:0x1", "bip122:1"),
    ],
)
def test_no_chain_is_found_by_another_name(name: str) -> None:
    assert find_by_name(load_chains(None), name) is None


@pytest.mark.parametrize(
    ("line", "key", "reason"),
    [
        ('aliases = ["bsc"]', "chain.aliases", "bsc is also that of chain_56"),
        ('aliases = ["chain_56"]', "chain.aliases", "chain_56 is also that of chain_56"),
        ('aliases = ["eth", "eth"]', "chain.aliases", "eth is also that of ethereum"),
        ('aliases = ["56"]', "chain.aliases[0]", "Expected `str` matching regex"),
        ('aliases = ["ETH"]', "chain.aliases[0]", "Expected `str` matching regex"),
        ("id = 56", "chain.id", "56 is also that of chain_56"),
    ],
)
def test_a_name_of_two_chains_is_refused(ethereum: Path, line: str, key: str, reason: str) -> None:
    (ethereum.parent / "chain_56.toml").write_text("[chain]\nblock_time_s = 1\n")
    ethereum.write_text(f"[chain]\n{line}\n")
    with pytest.raises(ConfigError) as refused:
        load_chains(ethereum.parents[1])
    assert refused.value.key == key
    assert reason in str(refused.value)
    assert "chain_56.toml" not in str(refused.value)


@pytest.mark.parametrize("slug", [slug for _, slug, _, _ in CHAINS])
def test_every_built_in_address_is_written_with_its_checksum(slug: str) -> None:
    for key, value in walk(load_toml(BUILT_IN / f"{slug}.toml")):
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and ADDRESS.fullmatch(text):
                assert text == checksum(Address(text.lower())), key


def test_every_family_is_covered_and_v4_can_be_read() -> None:
    for chain in load_chains(None):
        kinds = {dex.kind for dex in chain.dexes}
        assert {"AmmV2", "AmmV3", "AmmV4"} <= kinds, chain.slug
        originals = [dex for dex in chain.dexes if dex.kind == "AmmV4" and dex.variant is None]
        assert all(dex.state_view for dex in originals), chain.slug


def test_an_overlay_replaces_scalars_and_keeps_the_rest(ethereum: Path) -> None:
    ethereum.write_text("[chain]\nblock_time_s = 2\nstart_block = 0\n[oracle]\nheartbeat_s = 60\n")
    built_in, chain = by_slug(None), by_slug(ethereum.parents[1])
    assert (chain.block_time_s, chain.start_block, chain.oracle.heartbeat_s) == (2, 0, 60)
    assert chain.oracle.native_usd == built_in.oracle.native_usd
    assert (chain.id, chain.anchors, chain.dexes) == (built_in.id, built_in.anchors, built_in.dexes)


def test_the_known_lockers_of_a_chain_are_named(ethereum: Path) -> None:
    assert set(by_slug(None).locker_names.values()) == {
        "Clanker",
        "PinkLock",
        "Team Finance",
        "UNCX Liquidity Locker V2",
        "UNCX Liquidity Locker V3",
        "UNCX Token Vesting",
    }
    ethereum.write_text(LOCKER)
    assert by_slug(ethereum.parents[1]).locker_names == {FACTORY.lower(): "Vault"}


def test_an_overlay_replaces_a_list_whole(ethereum: Path) -> None:
    ethereum.write_text(DEX + stable(STABLE.lower()) + stable(OTHER_STABLE, 18))
    chain = by_slug(ethereum.parents[1])
    assert [dex.name for dex in chain.dexes] == ["Local"]
    assert [(s.address, s.decimals) for s in chain.stables] == [
        (STABLE.lower(), 6),
        (OTHER_STABLE.lower(), 18),
    ]
    assert by_slug(ethereum.parents[1], "chain_56") == by_slug(None, "chain_56")


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ("[chain]\nblock_time = 2", "chain.block_time", "not a known key"),
        ("[chian]\nid = 2", "chian", "not a known key"),
        ("chain = 1", "chain", "Expected `object`"),
        ("[chain]\nid = 0", "chain.id", ">= 1"),
        ('[chain]\nid = "1"', "chain.id", "got `str`"),
        ('[chain]\nslug = "mainnet"', "chain.slug", "must be ethereum"),
        ("[chain]\nblock_time_s = 0", "chain.block_time_s", "> 0"),
        ('[chain]\nclock = "l1"', "chain.clock", "Invalid enum value"),
        ("[chain]\nfinality_blocks = -1", "chain.finality_blocks", ">= 0"),
        ("[wrapped_native]\ndecimals = 37", "wrapped_native.decimals", "<= 36"),
        ("[oracle]\nheartbeat_s = 0", "oracle.heartbeat_s", ">= 1"),
        ('[oracle]\nnative_usd = "0x12"', "oracle.native_usd", "not an EVM address"),
        ("[oracle]\nnative_usd = 12", "oracle.native_usd", "not an EVM address"),
        (stable(STABLE), "stable", "length 2, got 1"),
        (stable(STABLE) + stable(OTHER_STABLE) + stable(FACTORY), "stable", "length 2, got 3"),
        ("stable = []", "stable", "length 2, got 0"),
        (stable(STABLE) + stable(STABLE), "stable[1].address", "same as stable[0].address"),
        (
            stable(STABLE) + stable(FACTORY.replace("aA6f", "AA6f")),
            "stable[1].address",
            f"written right it is {FACTORY}",
        ),
        (stable(STABLE) + stable(FACTORY.upper().replace("X", "x")), "stable[1].address", "EIP-55"),
        (DEX + 'pool = "x"', "dex[0].pool", "not a known key"),
        (DEX + DEX, "dex[1].factory", "same as dex[0].factory"),
        (DEX.replace("AmmV2", "AmmV5"), "dex[0].kind", "AmmV2|AmmV3"),
        (DEX.replace("kind", "#"), "dex[0].kind", "is missing"),
        (DEX + "fee_bp = 10001", "dex[0].fee_bp", "<= 10000"),
        (DEX + "fee_tiers = [0]", "dex[0].fee_tiers[0]", ">= 1"),
        (DEX + 'router = ""', "dex[0].router", "not an EVM address"),
        (
            '[[launchpad]]\nslug = "x"\nkind = "curve"\ncontracts = ["0x1"]',
            "launchpad[0].contracts[0]",
            "not an EVM address",
        ),
        (PAD + PAD, "launchpad[1].slug", "same as launchpad[0].slug"),
        (LOCKER + LOCKER, "locker[1].contracts", "same as locker[0].contracts"),
        (LOCKER.replace("Vault", ""), "locker[0].name", "length"),
        (LOCKER.replace(FACTORY, "0x12"), "locker[0].contracts[0]", "not an EVM address"),
        (PAD.replace("local", "Local Pad"), "launchpad[0].slug", "regex"),
        (PAD + 'curve = "curve_z"', "launchpad[0].curve", "Invalid enum value"),
        (PAD + "getter = 'issuer(address)'", "launchpad[0].getter", "regex"),
        (PAD + "contracts = []", "the file", "overwrite"),
        (PAD + EVENT.replace("= 'token'", "= 'coin'"), "launchpad[0].event[0]", "token"),
        (PAD + EVENT + "word = 1", "launchpad[0].event[0].word", "not a known key"),
        (
            PAD + "[[launchpad.registry]]\nread = 'made(uint256)'",
            "launchpad[0].registry[0].read",
            "regex",
        ),
        (
            PAD + f"[[launchpad.registry]]\nread = 'made(address)'\nat = ['{FACTORY}0']",
            "launchpad[0].registry[0].at[0]",
            "not an EVM address",
        ),
        ("[chain", "the file", "end of document"),
    ],
)
def test_a_mistake_in_an_overlay_names_file_and_key(
    ethereum: Path, text: str, key: str, reason: str
) -> None:
    ethereum.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_chains(ethereum.parents[1])
    assert (caught.value.source, caught.value.key) == (str(ethereum), key)
    assert reason in caught.value.reason


def test_a_built_in_mistake_is_not_laid_at_the_overlays_door(
    ethereum: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "built_in"
    copy.mkdir()
    for path in BUILT_IN.glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        (copy / path.name).write_text(text.replace("heartbeat_s = 3600", "heartbeat_s = 0"))
    monkeypatch.setattr("config.facts.load_chains.BUILT_IN", copy)
    ethereum.write_text("[oracle]\ndecimals = 8\n")
    with pytest.raises(ConfigError) as caught:
        load_chains(ethereum.parents[1])
    assert (caught.value.source, caught.value.key) == (
        str(copy / "ethereum.toml"),
        "oracle.heartbeat_s",
    )


def test_a_file_for_an_unknown_chain_names_the_six(ethereum: Path) -> None:
    unknown = ethereum.with_name("chain_10.toml")
    unknown.write_text("[chain]\nid = 10\n")
    with pytest.raises(ConfigError) as caught:
        load_chains(ethereum.parents[1])
    assert caught.value.source == str(unknown)
    for _, slug, _, _ in CHAINS:
        assert slug in caught.value.reason


def test_two_chains_cannot_have_one_id(ethereum: Path) -> None:
    ethereum.write_text("[chain]\nid = 56\n")
    with pytest.raises(ConfigError) as caught:
        load_chains(ethereum.parents[1])
    assert (caught.value.source, caught.value.key) == (str(ethereum), "chain.id")
    assert caught.value.reason == "56 is also that of chain_56"


def test_only_chains_with_an_endpoint_are_enabled() -> None:
    chains = load_chains(None)
    settings = load_settings({"ASSAY_RPC_56": "http://a.example", "ASSAY_RPC_1": "ws://b.example"})
    assert [chain.slug for chain in choose_enabled(chains, settings)] == ["ethereum", "chain_56"]
    assert choose_enabled(chains, load_settings({})) == ()


def test_an_endpoint_for_an_unsupported_chain_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        choose_enabled(load_chains(None), load_settings({"ASSAY_RPC_10": "http://a.example"}))
    assert (caught.value.source, caught.value.key) == ("environment", "ASSAY_RPC_10")
    assert "1, 56, 4663, 8453, 42161, 43114" in caught.value.reason


@given(st.binary(min_size=20, max_size=20), st.data())
def test_an_address_passes_in_lower_case_or_with_the_right_checksum_only(
    raw: bytes, data: st.DataObject
) -> None:
    lower = Address("0x" + raw.hex())
    right = checksum(lower)
    for good in (lower, right):
        assert decode_address(good, key="k", source_of=lambda _: "f") == lower
    letters = [at for at, digit in enumerate(right) if at > 1 and digit.isalpha()]
    if letters:
        at = data.draw(st.sampled_from(letters))
        wrong = right[:at] + right[at].swapcase() + right[at + 1 :]
        if wrong != lower:
            with pytest.raises(ConfigError, match="EIP-55"):
                decode_address(wrong, key="k", source_of=lambda _: "f")


# --- pool families ------------------------------------------------------------------------------

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
