"""Names of a chain: its slug, its chain id in three spellings, and its aliases."""

from collections.abc import Iterable

from config.facts.chain import Chain


def names_of(chain: Chain) -> tuple[str, ...]:
    """Return every name of the chain in lower case: slug, number, aliases."""
    return (chain.slug, str(chain.id), *chain.aliases)


def index_by_name(chains: Iterable[Chain]) -> dict[str, Chain]:
    """Return the chains by each of their names, which `load_chains` has proved distinct.

    Wallets name a chain by its number in hexadecimal (`0x1`) or by CAIP-2 (`eip155:1`).
    """
    return {
        name: chain
        for chain in chains
        for name in (*names_of(chain), hex(chain.id), f"eip155:{chain.id}")
    }


def find_by_name(chains: Iterable[Chain], name: str) -> Chain | None:
    """Return the chain with that name, letter case ignored. None: none of them has it."""
    return index_by_name(chains).get(name.lower())


def list_names(chains: Iterable[Chain]) -> str:
    """Return the slugs, each with its other names: `ethereum (1, eth), chain_8453 (8453, base)`."""
    return ", ".join(f"{c.slug} ({', '.join(names_of(c)[1:])})" for c in chains)
