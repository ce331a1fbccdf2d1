"""Protects the meaning of a typed text: addresses in any form, chains by any name, else names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.search.query import SearchQuery, read_query
from config.facts.load_chains import load_chains
from core.evm.primitives import Address, checksum

CHAINS = load_chains(None)
BY_SLUG = {chain.slug: chain for chain in CHAINS}
DIGITS = "dAC17F958D2ee523a2206206994597C13D831ec7"
TOKEN = Address(f"0x{DIGITS.lower()}")


def at(slug: str | None) -> SearchQuery:
    """The reading as this address."""
    return SearchQuery(address=TOKEN, chain=None if slug is None else BY_SLUG[slug])


@pytest.mark.parametrize(
    ("typed", "slug"),
    [
        (f"0x{DIGITS}", None),
        (f"0X{DIGITS.upper()}", None),
        (DIGITS.lower(), None),
        (f"  \t0x{DIGITS} \n", None),
        (f"0x{DIGITS} on Base", "chain_8453"),
        (f"bsc 0x{DIGITS}", "chain_56"),
        (f"token:0x{DIGITS}.", None),
        (f"https://etherscan.io/token/0x{DIGITS}", "ethereum"),
        (f"see https://www.BscScan.com/token/0x{DIGITS}?a=1#code", "chain_56"),
        (f"https://explorer.example/token/0x{DIGITS}?a=56#code", None),
        (f"https://dexscreener.com/avalanche/0x{DIGITS.lower()}", "chain_43114"),
        (f"https://gopluslabs.io/token-security/56/0x{DIGITS}", "chain_56"),
        (f"https://assay.example/t/ethereum/0x{DIGITS}", "ethereum"),
        (f"https://base.blockscout.com/token/0x{DIGITS}", "chain_8453"),
        (f"https://base.example/eth/0x{DIGITS}", None),  # two chains are none
        (f"http://[0x{DIGITS}", None),  # no link after all
    ],
)
def test_an_address_is_found_in_whatever_is_pasted(typed: str, slug: str | None) -> None:
    assert read_query(typed, None, CHAINS) == (at(slug),)


def test_the_chosen_chain_decides() -> None:
    chosen = BY_SLUG["ethereum"]
    typed = f"https://base.blockscout.com/token/0x{DIGITS}"
    assert read_query(typed, chosen, CHAINS) == (at("ethereum"),)
    assert read_query("pepe base", chosen, CHAINS) == (SearchQuery(text="pepe base", chain=chosen),)


@pytest.mark.parametrize(
    ("typed", "texts"),
    [
        ("pepe", [("pepe", None)]),
        ("  Shiba   Inu ", [("Shiba Inu", None)]),
        ("eth", [("eth", None)]),  # a symbol before a chain
        ("pepe on base", [("pepe on base", None), ("pepe", "chain_8453")]),
        ("BASE pepe", [("BASE pepe", None), ("pepe", "chain_8453")]),
        ("bnb eth", [("bnb eth", None)]),  # two chains are none
        (f"0x{DIGITS}00", [(f"0x{DIGITS}00", None)]),  # too long for an address
        (f"0x{DIGITS[:-1]}", [(f"0x{DIGITS[:-1]}", None)]),
    ],
)
def test_other_words_are_a_name_first(typed: str, texts: list[tuple[str, str | None]]) -> None:
    found = read_query(typed, None, CHAINS)
    assert [(one.text, one.chain.slug if one.chain else None) for one in found] == texts
    assert all(one.address is None for one in found)


@given(before=st.text(max_size=30), after=st.text(max_size=30))
def test_any_text_is_read(before: str, after: str) -> None:
    assert len(read_query(before + after, None, CHAINS)) in (1, 2)
    found = read_query(f"{before} {checksum(TOKEN)} {after}", None, CHAINS)
    assert found[0].address == TOKEN
